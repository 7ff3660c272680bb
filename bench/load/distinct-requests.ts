import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createAccountId, createKey } from '#platform/secrets/keys.ts'

/** Requests that all differ in what a gateway may keep of them. */

/** What differs, besides the client's address, which always does. */
export type DistinctKind =
  | 'unknown-keys'
  | 'valid-keys'
  | 'tokens'
  | 'forged-tokens'
  | 'paths'
  | 'rated-addresses'

/** What the requests need of the store, in a file. */
export interface DistinctCallers {
  /** The key of HS256, and its ID. */
  readonly signingKey: string
  readonly kid: string
  readonly issuer: string
  readonly callers: readonly DistinctCaller[]
}

export interface DistinctCaller {
  readonly accountId: string
  readonly sessionId: string
  readonly secretKey: string
}

export interface DistinctRequests {
  /** The status that each is answered with. */
  readonly status: number
  /** @param index a number that no other request of the kind has */
  write(index: number): string
}

export function createDistinctRequests(
  kind: DistinctKind,
  callersFile: string,
  count: number,
): DistinctRequests {
  const callers = readCallers(callersFile)
  const callerOf = (index: number) =>
    at(callers.callers, Math.floor((index * callers.callers.length) / count))
  switch (kind) {
    case 'unknown-keys':
      return {
        status: 401,
        write: (index) => write('/any', index, `SecretKey: ${createKey('secretKey', createAccountId())}`),
      }
    case 'valid-keys':
      return {
        status: 200,
        write: (index) => write('/any', index, `SecretKey: ${callerOf(index).secretKey}`),
      }
    case 'tokens':
      return {
        status: 200,
        write: (index) => write('/any', index, bearer(sign(callers, callerOf(index), index))),
      }
    case 'forged-tokens':
      return {
        status: 401,
        write: (index) => write('/any', index, bearer(forge(sign(callers, callerOf(index), index)))),
      }
    case 'paths':
      return {
        status: 200,
        write: (index) =>
          write(
            `/any/${index}/of/${index + count}?page=${index}`,
            index,
            `SecretKey: ${at(callers.callers, 0).secretKey}`,
          ),
      }
    case 'rated-addresses':
      return { status: 200, write: (index) => write('/rated', index) }
    default:
      return kind satisfies never
  }
}

let known: { readonly file: string; readonly callers: DistinctCallers } | undefined

function readCallers(file: string): DistinctCallers {
  // The cast is sound: the scenario writes it.
  if (known?.file !== file)
    known = { file, callers: JSON.parse(readFileSync(file, 'utf8')) as DistinctCallers }
  return known.callers
}

function at<Element>(list: readonly Element[], index: number): Element {
  const element = list[index]
  if (element === undefined) throw new Error('there are no callers')
  return element
}

function write(target: string, index: number, field?: string): string {
  const lines = `Host: bench.example\r\nUser-Agent: bench\r\nX-Forwarded-For: ${addressOf(index)}\r\n`
  return `GET ${target} HTTP/1.1\r\n${lines}${field === undefined ? '' : `${field}\r\n`}\r\n`
}

/** IPv4 and IPv6 in turn; each IPv6 address is of another network. */
function addressOf(index: number): string {
  const [high, middle, low] = [(index >>> 16) & 0xff, (index >>> 8) & 0xff, index & 0xff]
  return index % 2 === 0
    ? `10.${high}.${middle}.${low}`
    : `2001:db8:${(index >>> 16).toString(16)}:${(index & 0xffff).toString(16)}::7`
}

function bearer(token: string): string {
  return `Authorization: Bearer ${token}`
}

/** An access token like those of the gateway (RFC 9068). */
function sign({ signingKey, kid, issuer }: DistinctCallers, caller: DistinctCaller, index: number): string {
  const now = Math.floor(Date.now() / 1_000)
  const claims = {
    iss: issuer,
    aud: 'gatehouse',
    sub: caller.accountId,
    sid: caller.sessionId,
    role: 'User',
    iat: now - 60,
    exp: now + 3_600,
    jti: `00000000-0001-8000-8000-${index.toString(16).padStart(12, '0')}`,
  }
  const text = `${base64url({ alg: 'HS256', typ: 'at+jwt', kid })}.${base64url(claims)}`
  return `${text}.${createHmac('sha256', signingKey).update(text).digest('base64url')}`
}

function base64url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

/** With another signature. */
function forge(token: string): string {
  const start = token.lastIndexOf('.') + 1
  return `${token.slice(0, start)}${createHmac('sha256', 'forged').update(token).digest('base64url')}`
}
