import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cores, onCore } from '../processes.ts'
import { type LoadCommand, type LoadResults, requestNumberPlaceholder } from './commands.ts'

type Closed = Extract<LoadCommand, { kind: 'closed' }>
type Paced = Extract<LoadCommand, { kind: 'paced' }>

/** The same closed loop by wrk, which uses a tenth of the CPU of ours and so can saturate the cheapest proxies. */
export function runWrk(order: Closed): Promise<LoadResults['closed']> {
  return run(order, scriptOf(order))
}

/** Maximum number of trials of a second each, until the rate is within 5 %. */
const trialsMax = 5
/** The clock of wrk has a resolution of a millisecond: much shorter delays cannot be timed. */
const cycleMinMs = 0.7

/**
 * An approximate request rate by wrk: each connection waits for a random time before its next request. The mean is
 * found by trial, as a response takes time, too. If the given connections would have to wait less than wrk can,
 * more are opened.
 * @returns a function that runs the load, repeatable
 */
export async function calibrateWrk(asked: Paced): Promise<() => Promise<LoadResults['paced']>> {
  const connections = Math.max(asked.connections, Math.ceil((asked.perSecond * cycleMinMs) / 1_000))
  const order = { ...asked, connections }
  const cycleMs = (perSecond: number) => (order.connections * 1_000) / perSecond
  let waitMs = cycleMs(order.perSecond)
  for (let trial = 0; trial < trialsMax; trial++) {
    const { answers, elapsedMs } = await runWaiting({ ...order, durationMs: 1_000 }, waitMs)
    const perSecond = (answers * 1_000) / elapsedMs
    if (Math.abs(perSecond / order.perSecond - 1) < 0.05) break
    waitMs = Math.max(0, waitMs + cycleMs(order.perSecond) - cycleMs(perSecond))
  }
  return () => runWaiting(order, waitMs)
}

function runWaiting(order: Paced, meanMs: number): Promise<Summary> {
  const pace = `function delay() return math.floor(math.random() * ${2 * meanMs} + 0.5) end\n`
  return run(order, scriptOf(order) + pace)
}

async function run({ url, status, connections, durationMs }: Closed | Paced, text: string): Promise<Summary> {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-wrk-'))
  try {
    const script = join(dir, 'load.lua')
    writeFileSync(script, text)
    const seconds = Math.max(1, Math.round(durationMs / 1_000))
    const [file = '', ...args] = onCore(cores.load, [
      'wrk',
      '-t1',
      `-c${connections}`,
      `-d${seconds}s`,
      // Else a request that takes over 2 s is not slow, but an error.
      '--timeout=60s',
      '-s',
      script,
      url,
    ])
    const { stdout } = await promisify(execFile)(file, args)
    return readSummary(stdout, status)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Whole requests, one after the other, in the pieces between their numbers: it takes wrk far longer to replace text. */
function scriptOf({ requests, ...order }: Closed | Paced): string {
  const isNumbered = order.kind === 'closed' && order.isNumbered
  const pieces = requests.map((request) => (isNumbered ? request.split(requestNumberPlaceholder) : [request]))
  return `
local requests = { ${pieces.map((texts) => `{ ${texts.map(luaString).join(',\n')} }`).join(',\n')} }
local count, sent = #requests, 0
function request()
  sent = sent + 1
  local pieces = requests[sent % count + 1]
  return ${isNumbered ? 'table.concat(pieces, string.format("%012d", sent))' : 'pieces[1]'}
end
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format("\\nsummary %d %d %d %d %d %d\\n", summary.requests, summary.duration, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout, latency:percentile(50), latency:percentile(99)))
end
`
}

function luaString(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\r', '\\r').replaceAll('\n', '\\n')}"`
}

type Summary = LoadResults['closed'] & LoadResults['paced']

/** wrk distinguishes only statuses up to 399 and those above. @throws Error if there were unexpected ones */
export function readSummary(output: string, status: number): Summary {
  const [, ...numbers] = /^summary (\d+) (\d+) (\d+) (\d+) (\d+) (\d+)$/m.exec(output) ?? []
  const [requests = 0, durationUs = 0, refused = 0, broken = 0, p50Us = 0, p99Us = 0] = numbers.map(Number)
  if (requests === 0 || broken > 0 || refused !== (status < 400 ? 0 : requests)) {
    throw new Error(`${requests} answers, ${refused} refused, ${broken} broken: ${output}`)
  }
  return { answers: requests, elapsedMs: durationUs / 1_000, p50Ms: p50Us / 1_000, p99Ms: p99Us / 1_000 }
}
