import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cores, onCore } from '../processes.ts'
import { type LoadCommand, type LoadResults, requestNumberPlaceholder } from './commands.ts'

type Closed = Extract<LoadCommand, { kind: 'closed' }>
type Paced = Extract<LoadCommand, { kind: 'paced' }>

/** The same closed loop by wrk, which costs a tenth of ours and so can keep the cheapest proxies busy. */
export function runWrk(order: Closed): Promise<LoadResults['closed']> {
  return run(order, scriptOf(order))
}

/** Trials of a second each, at most, until the pace is right by a twentieth. */
const trialsMax = 5
/** wrk waits from tick to tick of its clock, a millisecond each: much below one there is no pace to speak of. */
const cycleMinMs = 0.7

/**
 * So many requests a second by wrk, about: each connection waits before its next request for as long as chance
 * says. How long on the average is tried out, as an answer takes its time, too. Where the connections asked for
 * would have to wait less than wrk can, there are more.
 * @returns what runs them, as often as wanted
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

/** Whole requests, as they are, one after the other. */
function scriptOf({ requests, ...order }: Closed | Paced): string {
  const isNumbered = order.kind === 'closed' && order.isNumbered
  return `
local requests = { ${requests.map(luaString).join(',\n')} }
local count, sent = #requests, 0
function request()
  sent = sent + 1
  local text = requests[sent % count + 1]
  return ${isNumbered ? `(text:gsub("${requestNumberPlaceholder}", sent, 1))` : 'text'}
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

/** wrk tells apart only statuses up to 399 and those above. @throws Error when there were others than expected */
export function readSummary(output: string, status: number): Summary {
  const [, ...numbers] = /^summary (\d+) (\d+) (\d+) (\d+) (\d+) (\d+)$/m.exec(output) ?? []
  const [requests = 0, durationUs = 0, refused = 0, broken = 0, p50Us = 0, p99Us = 0] = numbers.map(Number)
  if (requests === 0 || broken > 0 || refused !== (status < 400 ? 0 : requests)) {
    throw new Error(`${requests} answers, ${refused} refused, ${broken} broken: ${output}`)
  }
  return { answers: requests, elapsedMs: durationUs / 1_000, p50Ms: p50Us / 1_000, p99Ms: p99Us / 1_000 }
}
