import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Test } from 'tap'
import { repeated, shapes } from './shapes.ts'
import { slowness } from './yardstick.ts'

// timed: what requests cost

/** `limits.headers` less what else a head has. */
export const headLengthMax = 15_600

/** What a request of a stranger may cost the thread that serves it, in ms of the machine of `yardstick.ts`. */
const costMaxMs = 5
/** Who is signed in is known, and their requests read and write the store. */
export const signedInMaxMs = 10

/** How often something is tried until it was as cheap as it should be: whatever else the machine does is not counted. */
const triesMax = 40
/** How often a text of a quarter is tried, for a cost to compare with. */
const quarterTries = 3
/** From here on it is worth asking whether the cost grows faster than the text. */
const growthFromMs = 2.5
/** A text four times as long costs four times as much, and one of quadratic cost 16 times. */
const growthMax = 10

/** Sends something with texts of a length. @param end of the texts, another one each time: nothing is cached */
export type Attempt = (length: number, end: string) => Promise<unknown>

let attempts = 0

/**
 * The fewest milliseconds that an attempt took of the event loop, where it was not cheap at once. Counted is the time
 * that the loop did not wait, or the processor's time where that is less: the first has the time of other programs in
 * it, the second that of other threads.
 * @param slownessNow what a cost that is not cheap is divided by
 */
async function leastMs(
  attempt: Attempt,
  length: number,
  enoughMs: number,
  { tries = triesMax, slownessNow = (): number => 1 } = {},
): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let tried = 0; tried < tries && least > enoughMs; tried++) {
    // An escape, after which no pattern matches that wants a repetition to be the end.
    const end = `%41${(attempts++).toString(36)}`
    await nextTurn()
    const loopBefore = performance.eventLoopUtilization()
    const processorBefore = process.cpuUsage()
    await attempt(length, end)
    // What is logged and counted comes after the answer.
    await nextTurn()
    const { user, system } = process.cpuUsage(processorBefore)
    const { active } = performance.eventLoopUtilization(loopBefore)
    const costMs = Math.min(active, (user + system) / 1_000)
    least = Math.min(least, costMs > enoughMs ? costMs / slownessNow() : costMs)
  }
  return least
}

export interface Bounds {
  /** Of the longest texts that are allowed. */
  readonly length: number
  /** Default: what a request of a stranger may cost. */
  readonly maxMs?: number
}

/** For a text that is most of a head. */
export const head: Bounds = { length: headLengthMax }

/** For a text that is most of a body: the largest of the endpoints and forms, less what else it has. */
export const body: Bounds = { length: 65_000 }

/** Why something is too dear; undefined = it is not. */
export async function tooDear(
  attempt: Attempt,
  { length, maxMs = costMaxMs }: Bounds,
): Promise<string | undefined> {
  const costMs = await leastMs(attempt, length, maxMs, { slownessNow: slowness })
  if (costMs > maxMs) return `${costMs.toFixed(1)} ms`
  if (costMs <= growthFromMs) return undefined
  const quarterMs = await leastMs(attempt, length / 4, 0, { tries: quarterTries })
  if (costMs <= quarterMs * growthMax) return undefined
  // Both on this machine: how fast it is does not change how the cost grows.
  const againMs = await leastMs(attempt, length, quarterMs * growthMax)
  return againMs > quarterMs * growthMax
    ? `${againMs.toFixed(1)} ms, and a quarter of it ${quarterMs.toFixed(2)} ms`
    : undefined
}

/**
 * Sends bytes on a connection of their own, and waits for the answer to begin, or the end.
 * @param isAnswer whether it has begun with what has come
 */
export async function exchange(
  url: string,
  bytes: Buffer,
  isAnswer: (received: Buffer) => boolean = () => true,
): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  const { promise, resolve } = Promise.withResolvers<void>()
  let received: Buffer = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    if (isAnswer(received)) resolve()
  })
  socket.on('close', () => resolve())
  socket.write(bytes)
  await promise
  socket.destroy()
  return received.toString('latin1', 0, 4_096)
}

/** Tries all of these with each shape. @param send sends a text as the one of that name */
export async function tryAll(
  t: Test,
  names: readonly string[],
  { length, maxMs = costMaxMs }: Bounds,
  send: (name: string, text: string) => Promise<unknown>,
): Promise<void> {
  const dear: string[] = []
  for (const name of names) {
    for (const shape of shapes) {
      const why = await tooDear((size, end) => send(name, repeated(shape, size, end)), { length, maxMs })
      if (why !== undefined) dear.push(`${name}, ${JSON.stringify(shape)} again and again: ${why}`)
    }
  }
  t.strictSame(dear, [])
}

/** A field line. @param field a name, or with a beginning of its value, or with all but the text, for which `…` stands */
export function lineOf(field: string, text: string): string {
  if (field.includes('…')) return field.replace('…', () => text)
  return field.includes(': ') ? field + text : `${field}: ${text}`
}

/** A request of HTTP/1.1 as bytes; each character is one. @param lines the request line and fields */
export function requestBytes(lines: readonly string[], body: string | Buffer = ''): Buffer {
  return Buffer.concat([
    Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'),
    typeof body === 'string' ? Buffer.from(body) : body,
  ])
}
