import { isIP } from 'node:net'
import { loadConfig } from '#config/load.ts'
import { parseHost } from '#gateway/routes/hosts.ts'
import { isToken } from '#http/message/characters.ts'
import { encodeHighBytes } from '#http/server/request-line.ts'
import { METHODS } from '#platform/http.ts'
import { type Command, UsageError } from '../command.ts'
import { printData, twoColumns } from '../print.ts'
import { redactTarget, type ShownHeader } from '../redact.ts'
import { explain } from './explain.ts'
import type { Explanation, Step } from './explanation.ts'
import type { ExplainedRequest } from './read-arrival.ts'
import { openReadOnlyAuth } from './read-only-auth.ts'

export const explainCommand: Command = {
  name: 'explain',
  operands: ['METHOD', 'URL'],
  summary: 'Explains step by step how the gateway would handle a request; sends nothing.',
  examples: [
    'gatehouse explain GET /orders/7',
    "gatehouse explain GET /orders/7 -H 'SecretKey: gate_sk_…' --from 203.0.113.7",
  ],
  options: {
    header: {
      multiple: true,
      short: 'H',
      value: 'LINE',
      help: "A header of the request: -H 'Name: value'; may be repeated.",
    },
    from: {
      value: 'ADDRESS',
      help: 'Address that the connection comes from; default 127.0.0.1.',
    },
    decide: {
      help: 'Explains what the decide listener tells a proxy that asks about this request.',
    },
  },
  run: async (invocation, method, url) => {
    const lines = invocation.texts('header')
    const asked = parseExplainedRequest({ method, url, lines, peer: invocation.text('from') ?? '127.0.0.1' })
    const { config } = loadConfig(invocation.config)
    const { hasHost, ...request } = asked
    const host = hasHost ? [] : ['Host', new URL(config.publicOrigin).host]
    const callers = openReadOnlyAuth(config, Date.now)
    try {
      const listener = invocation.flag('decide') ? 'decide' : 'main'
      const whole = { ...request, listener, rawHeaders: [...host, ...request.rawHeaders] } as const
      const explanation = await explain(whole, config, callers)
      printData(invocation, explanation, [`${method} ${redactTarget(url)}`, ...linesOf(explanation)])
    } finally {
      await callers.close()
    }
  },
}

function linesOf({ decision, status, code, route, steps }: Explanation): readonly string[] {
  const rows = steps.map(
    ({ step, outcome, detail }) => [step, `${outcome === 'passed' ? 'ok' : 'NO'}  ${detail}`] as const,
  )
  const verdicts = {
    forward: `forward: route "${route}"`,
    answer: 'answer: by the gateway itself',
    refuse: `refuse: ${status} ${code}`,
  }
  return [
    ...twoColumns(rows),
    ...headersOf(steps).map(({ name, value }) => `      ${name}: ${value}`),
    ...checkOf(steps),
    verdicts[decision],
  ]
}

function headersOf(steps: readonly Step[]): readonly ShownHeader[] {
  const headers = steps.at(-1)?.facts.headers
  // The cast is sound: only explain creates steps, and its headers have this type.
  return Array.isArray(headers) ? (headers as readonly ShownHeader[]) : []
}

function checkOf(steps: readonly Step[]): readonly string[] {
  const check = steps.at(-1)?.facts.check
  return typeof check === 'string' ? [`  check: ${check}`] : []
}

/** A request as the command line describes it. */
interface RequestArguments {
  readonly method: string
  readonly url: string
  /** Header lines, each `Name: value`. */
  readonly lines: readonly string[]
  readonly peer: string
}

/** It has no Host if neither the URL nor a header gives one. */
interface ParsedRequest extends Omit<ExplainedRequest, 'listener'> {
  readonly hasHost: boolean
}

const absolute = /^https?:\/\/([^/?#]*)(.*)$/is
// Bytes that would end the target or the line, or that the gateway always treats as ambiguous.
const invalidTargetBytes = /[\0- \x7f]/
const lineBreak = /[\r\n\0]/

/** @throws UsageError if it is not a valid request; the message never repeats a possible secret */
function parseExplainedRequest({ method, url, lines, peer }: RequestArguments): ParsedRequest {
  if (isIP(peer) === 0) throw new UsageError(`--from must be an address such as 203.0.113.7, not "${peer}"`)
  assertMethod(method)
  const { authority, target } = parseUrl(method, url)
  const headers = lines.map(parseLine)
  const hasHostHeader = headers.some(([name]) => name.toLowerCase() === 'host')
  const fromUrl = hasHostHeader || authority === undefined ? [] : ['Host', authority]
  return {
    method,
    target,
    rawHeaders: [...fromUrl, ...headers.flat()],
    peer,
    hasHost: hasHostHeader || authority !== undefined,
  }
}

function assertMethod(method: string): void {
  if (!isToken(method)) throw new UsageError(`"${method}" is not an HTTP method`)
  const capitals = method.toUpperCase()
  if (method !== capitals && METHODS.includes(capitals)) {
    throw new UsageError(`methods are case-sensitive: did you mean "${capitals}"?`)
  }
}

function parseUrl(
  method: string,
  given: string,
): { readonly authority: string | undefined; readonly target: string } {
  if (invalidTargetBytes.test(given)) {
    throw new UsageError('the URL contains a space or a control character: percent-encode it')
  }
  if (given.startsWith('/')) return { authority: undefined, target: encodeTarget(given) }
  if (given === '*' && method === 'OPTIONS') return { authority: undefined, target: given }
  const [, authority, rest = ''] = absolute.exec(given) ?? []
  if (authority === undefined) {
    throw new UsageError('the URL must look like http://localhost:8080/orders, or be a path such as /orders')
  }
  if (authority.includes('@')) throw new UsageError('the URL contains a user name: give credentials with -H')
  if (parseHost(authority) === undefined || !URL.canParse(`http://${authority}`)) {
    throw new UsageError('the host of the URL is malformed')
  }
  return { authority, target: encodeTarget(rest.startsWith('/') ? rest : `/${rest}`) }
}

/** Encoded as the gateway encodes the bytes that it receives. */
function encodeTarget(target: string): string {
  return encodeHighBytes(Buffer.from(target).toString('latin1'))
}

function parseLine(line: string, index: number): readonly [name: string, value: string] {
  const colon = line.indexOf(':')
  const name = line.slice(0, Math.max(colon, 0))
  const which = `header ${index + 1} (-H)`
  if (colon === -1) throw new UsageError(`${which} has no colon: it must look like 'Name: value'`)
  if (!isToken(name))
    throw new UsageError(`the name of ${which} is malformed: it must look like 'Name: value'`)
  const value = line.slice(colon + 1).trim()
  if (lineBreak.test(value)) throw new UsageError(`${which} contains a line break or a NUL`)
  // As the gateway would receive it: one character per byte.
  return [name, Buffer.from(value).toString('latin1')]
}
