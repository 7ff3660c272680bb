import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { cores, onCore } from '../processes.ts'
import type { LoadResults } from './commands.ts'

/** A request over HTTP/2: TLS for https, and prior knowledge for http. */
export interface H2Request {
  readonly url: string
  /** The same for all requests. */
  readonly headers: Readonly<Record<string, string>>
  /** The body of a POST, as a file; absent = a GET. */
  readonly bodyFile?: string
}

/** A closed loop of requests, by h2load. */
export interface H2Load extends H2Request {
  readonly durationMs: number
}

export const h2Connections = 10
/** Requests that each connection has open at a time. */
export const h2Streams = 10

/** @throws Error if one was not answered with a 2xx */
export async function runH2load({ durationMs, ...order }: H2Load): Promise<LoadResults['closed']> {
  const seconds = Math.max(1, Math.round(durationMs / 1_000))
  const output = await h2load([`-c${h2Connections}`, `-m${h2Streams}`, `-D${seconds}`, '-t1'], order)
  return { answers: readH2Summary(output), elapsedMs: seconds * 1_000 }
}

/** Windows of 16 MiB: flow control is that of the subject. */
const windowBits = 24

/** One request over HTTP/2 without TLS. @returns how long it took @throws Error if it was not answered with a 2xx */
export async function runH2Body(order: H2Request): Promise<{ readonly elapsedMs: number }> {
  const output = await h2load(['-n1', '-c1', '-m1', `-w${windowBits}`, `-W${windowBits}`], order)
  readH2Summary(output)
  const [, time, unit] = /^finished in ([\d.]+)(us|ms|s),/m.exec(output) ?? []
  const unitMs = { us: 0.001, ms: 1, s: 1_000 }[unit ?? '']
  if (unitMs === undefined) throw new Error(`no time of one request: ${output}`)
  return { elapsedMs: Number(time) * unitMs }
}

/** @returns what it prints */
async function h2load(flags: readonly string[], { url, headers, bodyFile }: H2Request): Promise<string> {
  const [file = '', ...args] = onCore(cores.load, [
    'h2load',
    ...flags,
    ...(bodyFile === undefined ? [] : ['-d', bodyFile]),
    ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
    url,
  ])
  return (await promisify(execFile)(file, args)).stdout
}

/** @returns how many requests were answered @throws Error if one was not, or not with a 2xx */
export function readH2Summary(output: string): number {
  const [, done] =
    /^requests: .* (\d+) done, \d+ succeeded, 0 failed, 0 errored, 0 timeout$/m.exec(output) ?? []
  const isRefused = !/^status codes: \d+ 2xx, 0 3xx, 0 4xx, 0 5xx$/m.test(output)
  if (!Number(done) || isRefused) throw new Error(`not every request was answered with a 2xx: ${output}`)
  return Number(done)
}
