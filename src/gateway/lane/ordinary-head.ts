import { keptLines } from '#http/h1/field-lines.ts'
import { mark } from '#http/h1/name-table.ts'
import type { ParsedHead } from '#http/h1/parsed-head.ts'
import type { Carrier, Carriers } from '#identity/keys/carriers.ts'
import { requestMark } from '../forward/header-rules.ts'
import { isUsualConnection } from '../forward/hop-by-hop.ts'
import type { OwnCookies } from '../forward/own-cookies.ts'

/** What is read from the marked lines of an ordinary head. It is one object for all heads: valid until the next is read. */
export interface OrdinaryHead {
  /** Empty = there is none, or it is empty. */
  host: string
  /** Where the credential is in the text of the head; `credentialEnd` 0 = there is none. */
  credentialStart: number
  credentialEnd: number
  /** The header field of a secret key; undefined = `Authorization: Bearer`. */
  carrier: Carrier | undefined
  /** The lines that are forwarded to the backend. */
  lines: string
}

export interface OrdinaryHeadOptions {
  readonly carriers: Carriers
  readonly ownCookies: OwnCookies
  /** Whether a `traceparent` goes on as it is. */
  readonly passesTraceparent: boolean
}

const bearerPrefix = 'Bearer '

/**
 * Reads the lines of a head that more than forwarding is done with, and leaves out what does not go on: hop-by-hop fields,
 * credentials, every spelling of an identity header, and what only trusted proxies may say.
 * @returns undefined where more than the names of its fields decide about a head (see gateway/forward/request-head.ts)
 */
export function createOrdinaryHeadReader({ carriers, ownCookies, passesTraceparent }: OrdinaryHeadOptions) {
  const read: OrdinaryHead = {
    host: '',
    credentialStart: 0,
    credentialEnd: 0,
    carrier: undefined,
    lines: '',
  }

  /** Whether it is the first credential, and of a form that is known without a further look. */
  function takeCredential(text: string, found: number, start: number, end: number): boolean {
    if (found !== requestMark.authorization && found < requestMark.key) return false
    if (read.credentialEnd !== 0 || start === end) return false
    read.credentialEnd = end
    if (found !== requestMark.authorization) {
      read.credentialStart = start
      read.carrier = carriers.headers[found - requestMark.key]
      return true
    }
    read.credentialStart = start + bearerPrefix.length
    read.carrier = undefined
    return text.startsWith(bearerPrefix, start)
  }

  /** Whether a line goes on to the backend; undefined = the head is no ordinary one. */
  function passes(text: string, found: number, start: number, end: number): boolean | undefined {
    switch (found) {
      case mark.host:
        if (read.host !== '') return undefined
        read.host = text.slice(start, end)
        return false
      case mark.connection:
        return isUsualConnection(text.slice(start, end)) ? false : undefined
      case mark.contentLength:
      case mark.transferEncoding:
      case mark.keepAlive:
      case requestMark.dropped:
      case requestMark.forwarding:
        return false
      case requestMark.traceparent:
        return passesTraceparent ? true : undefined
      case requestMark.cookie:
        return ownCookies.mayBeIn(text.slice(start, end)) ? undefined : true
      default:
        return takeCredential(text, found, start, end) ? false : undefined
    }
  }

  return function readOrdinaryHead(head: ParsedHead): OrdinaryHead | undefined {
    read.host = ''
    read.credentialEnd = 0
    const lines = keptLines(head, passes)
    if (lines === undefined || read.host === '') return undefined
    read.lines = lines
    return read
  }
}
