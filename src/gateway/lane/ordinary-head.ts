import { mark } from '#http/message/name-table.ts'
import type { MarkedHead } from '#http/server/marked-head.ts'
import type { Carrier, Carriers } from '#identity/carriers.ts'
import type { ClientClaims } from '../arrival/client.ts'
import { isUsualConnection } from '../forward/connection-lines.ts'
import { requestMark } from '../forward/header-rules.ts'
import type { OwnCookies } from '../forward/own-cookies.ts'
import { noHost, type ReadHost, readHostAt } from '../routes/hosts.ts'

/**
 * The fields of an ordinary head that are not simply forwarded. One object for all heads, valid until the next is read.
 */
export interface OrdinaryFields extends ClientClaims {
  /** The Host field. */
  host: ReadHost
  /** Contains the credential. */
  text: string
  /** The position of the credential in the text; `credentialEnd` 0 = there is none. */
  credentialStart: number
  credentialEnd: number
  /** The header field of a secret key; undefined = `Authorization: Bearer`. */
  carrier: Carrier | undefined
  forwardedFor: string | undefined
  forwardedProto: string | undefined
  forwardedHost: string | undefined
  /** The first X-Request-Id. */
  requestId: string | undefined
  origin: string | undefined
  /** Whether a trusted proxy names a prefix that it has stripped. */
  hasOuterPrefix: boolean
  /** The lines that are forwarded to the backend. */
  lines: string
}

interface OrdinaryHeadOptions {
  readonly carriers: Carriers
  readonly ownCookies: OwnCookies
}

/**
 * Creates the function that reads the lines of a head that are not simply forwarded, and drops what no backend gets:
 * hop-by-hop fields, credentials, all spellings of identity headers, and what only trusted proxies may say. It returns
 * undefined if more than the names of the fields decides what is forwarded (see gateway/forward/upstream-head.ts).
 */
export function createOrdinaryHeadReader({ carriers, ownCookies }: OrdinaryHeadOptions) {
  const read: OrdinaryFields = {
    host: noHost,
    text: '',
    credentialStart: 0,
    credentialEnd: 0,
    carrier: undefined,
    forwardedFor: undefined,
    forwardedProto: undefined,
    forwardedHost: undefined,
    requestId: undefined,
    origin: undefined,
    hasOuterPrefix: false,
    lines: '',
  }
  let isTrusted = false

  /** @returns whether a line is forwarded; undefined = the head is not ordinary: Upgrade, second targets … */
  function visitLine(text: string, fieldMark: number, start: number, end: number): boolean | undefined {
    switch (fieldMark) {
      case mark.host:
        return takeHost(text, start, end) ? false : undefined
      case mark.connection:
        return isUsualConnection(text.slice(start, end)) ? false : undefined
      case mark.contentLength:
      case mark.transferEncoding:
      case mark.keepAlive:
      case requestMark.dropped:
        return false
      case requestMark.forwardedPrefix:
        read.hasOuterPrefix = isTrusted
        return isTrusted
      case requestMark.forwarding:
        return isTrusted
      case requestMark.forwardedFor:
      case requestMark.forwardedProto:
      case requestMark.forwardedHost:
      case requestMark.requestId:
        if (isTrusted) readReport(fieldMark, text.slice(start, end))
        return false
      case requestMark.origin:
        if (read.origin !== undefined) return undefined
        read.origin = text.slice(start, end)
        return true
      case requestMark.cookie:
        return ownCookies.mayBeIn(text.slice(start, end)) ? undefined : true
      default:
        return takeCredential(text, fieldMark, start, end) ? false : undefined
    }
  }

  /** @returns false if it is malformed, or not the first */
  function takeHost(text: string, start: number, end: number): boolean {
    if (read.host !== noHost) return false
    read.host = readHostAt(text, start, end)
    return read.host !== noHost
  }

  /** As gateway/arrival/request-fields.ts does: all X-Forwarded-For count, and of the others the first. */
  function readReport(fieldMark: number, value: string): void {
    if (fieldMark === requestMark.forwardedFor)
      read.forwardedFor = read.forwardedFor === undefined ? value : `${read.forwardedFor},${value}`
    else if (fieldMark === requestMark.forwardedProto) read.forwardedProto ??= value
    else if (fieldMark === requestMark.forwardedHost) read.forwardedHost ??= value
    else read.requestId ??= value
  }

  /**
   * Notes the position of the credential. @returns false if the line is not an ordinary credential, or not the first
   */
  function takeCredential(text: string, fieldMark: number, start: number, end: number): boolean {
    const isBearer = fieldMark === requestMark.authorization
    if (!isBearer && fieldMark < requestMark.key) return false
    if (read.credentialEnd !== 0 || start === end) return false
    read.text = text
    read.credentialStart = isBearer ? start + bearerPrefix.length : start
    read.credentialEnd = end
    read.carrier = isBearer ? undefined : carriers.headers[fieldMark - requestMark.key]
    return !isBearer || text.startsWith(bearerPrefix, start)
  }

  return function readOrdinaryHead(head: MarkedHead, isFromTrusted: boolean): OrdinaryFields | undefined {
    isTrusted = isFromTrusted
    read.host = noHost
    read.credentialEnd = 0
    read.forwardedFor = undefined
    read.forwardedProto = undefined
    read.forwardedHost = undefined
    read.requestId = undefined
    read.origin = undefined
    read.hasOuterPrefix = false
    const lines = head.keptLines(visitLine)
    if (lines === undefined || read.host === noHost) return undefined
    read.lines = lines
    return read
  }
}

const bearerPrefix = 'Bearer '
