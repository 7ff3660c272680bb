/**
 * How much slower than usual this process runs: a bound in milliseconds is one for the machine that it was chosen on, idle.
 * Measured is some fixed work of the kind that requests cause (patterns, calls, texts, memory), which took `usualMs` there. A
 * machine half as fast, or one whose cores share their units with other programs, takes twice as long for both, so that
 * a cost divided by this number is still within its bound. Code that became dearer takes longer for its own work alone.
 * @returns at least 1: a faster machine does not make bounds narrower
 */
export function slowness(): number {
  let least = Number.POSITIVE_INFINITY
  // The shortest of several is not one that another program interrupted.
  for (let run = 0; run < runs; run++) least = Math.min(least, timeWork())
  return Math.max(1, least / usualMs)
}

const usualMs = 1
const runs = 5
const pieces = 6_000
const text = Array.from({ length: pieces }, (_, index) => `a${index.toString(36)}`).join('?')
/** Until the work is compiled. */
const firstRuns = 100

for (let run = 0; run < firstRuns; run++) timeWork()

function timeWork(): number {
  const startedAt = performance.now()
  const encoded = encodeURIComponent(text)
  const decoded = encoded.replaceAll(/%([0-9A-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  if (new Set(decoded.split('?')).size !== pieces) throw new Error('the work was not done')
  return performance.now() - startedAt
}
