import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cores, onCore } from '../processes.ts'
import { type Answers, numberMark, type Order } from './order.ts'

type Closed = Extract<Order, { kind: 'closed' }>
type Paced = Extract<Order, { kind: 'paced' }>

/** The same closed loop by wrk, which costs a tenth of ours and so can keep the cheapest proxies busy. */
export function runWrk(order: Closed): Promise<Answers['closed']> {
  return run(order, scriptOf(order))
}

/**
 * So many requests a second by wrk, about: each connection waits before its next request for as long as chance
 * says, on the average as long as it takes for that many.
 */
export function runWrkPaced(order: Paced): Promise<Answers['paced']> {
  const meanMs = (order.connections * 1_000) / order.perSecond
  const pace = `function delay() return math.floor(math.random() * ${2 * meanMs}) end\n`
  return run(order, scriptOf(order) + pace)
}

async function run({ url, status, connections, durationMs }: Closed | Paced, text: string): Promise<Summary> {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-wrk-'))
  try {
    const script = join(dir, 'load.lua')
    writeFileSync(script, text)
    const seconds = Math.max(1, Math.round(durationMs / 1_000))
    const [file = '', ...args] = onCore(cores.load, [
      ...['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '-s', script, url],
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
  return ${isNumbered ? `(text:gsub("${numberMark}", sent, 1))` : 'text'}
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

type Summary = Answers['closed'] & Answers['paced']

/** wrk tells apart only statuses up to 399 and those above. @throws Error when there were others than expected */
export function readSummary(output: string, status: number): Summary {
  const [, ...numbers] = /^summary (\d+) (\d+) (\d+) (\d+) (\d+) (\d+)$/m.exec(output) ?? []
  const [requests = 0, durationUs = 0, refused = 0, broken = 0, p50Us = 0, p99Us = 0] = numbers.map(Number)
  if (requests === 0 || broken > 0 || refused !== (status < 400 ? 0 : requests)) {
    throw new Error(`${requests} answers, ${refused} refused, ${broken} broken: ${output}`)
  }
  return { answers: requests, elapsedMs: durationUs / 1_000, p50Ms: p50Us / 1_000, p99Ms: p99Us / 1_000 }
}
