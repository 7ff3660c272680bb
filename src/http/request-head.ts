/** How the body of a request ends (RFC 9112 6.3). */
export type RequestBody =
  | { readonly kind: 'none'; readonly isEmpty: boolean }
  | { readonly kind: 'counted'; readonly length: number }
  | { readonly kind: 'chunked' }

export type BodyFraming = RequestBody['kind']

/** The head of a request, as received. */
export interface RequestHead {
  /** Any token. */
  readonly method: string
  /** As in the request line, with bytes above 0x7F percent-encoded; it may hold control characters. */
  readonly target: string
  /** 0 or 1: the y in HTTP/1.y. */
  readonly minorVersion: number
  /** Name, value, name, value: in the received order and case. */
  readonly rawHeaders: readonly string[]
  readonly body: RequestBody
  /** Whether the client may send another request on this connection (RFC 9112 9.3). */
  readonly isPersistent: boolean
  readonly expectsContinue: boolean
  /** Value of Upgrade, in lower case, if Connection names it. */
  readonly upgrade: string | undefined
}

/** A copy of the head with some values changed. Not a spread, as the fields may only be parsed on demand. */
export function changedHead(head: RequestHead, changes: Partial<RequestHead>): RequestHead {
  const { method, target, minorVersion, body, isPersistent, expectsContinue, upgrade } = head
  const rawHeaders = changes.rawHeaders ?? head.rawHeaders
  return {
    method,
    target,
    minorVersion,
    rawHeaders,
    body,
    isPersistent,
    expectsContinue,
    upgrade,
    ...changes,
  }
}

/**
 * The head without the client's own texts, for a long-lived request: any of them would keep the whole head in memory.
 */
export function withoutTexts(head: RequestHead): RequestHead {
  return changedHead(head, { target: '', rawHeaders: [] })
}

/**
 * The value of a field that was sent once; undefined if it is missing, or was sent more often and so is ambiguous.
 * @param rawHeaders name, value, name, value, as received
 * @param name in lower case
 */
export function onlyValueOf(rawHeaders: readonly string[], name: string): string | undefined {
  let found: string | undefined
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    if (!isNamed(rawHeaders[index], name)) continue
    if (found !== undefined) return undefined
    found = rawHeaders[index + 1] ?? ''
  }
  return found
}

/**
 * The values of all fields of a name, in their order.
 * @param rawHeaders name, value, name, value, as received
 * @param name in lower case
 */
export function valuesOf(rawHeaders: readonly string[], name: string): readonly string[] {
  let values: string[] | undefined
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    if (!isNamed(rawHeaders[index], name)) continue
    values ??= []
    values.push(rawHeaders[index + 1] ?? '')
  }
  return values ?? none
}

const none: readonly string[] = []

/** The fields of a head as pairs, for code that is not hot. @param rawHeaders name, value, name, value */
export function* fieldsIn(rawHeaders: readonly string[]): Generator<[name: string, value: string]> {
  for (let index = 0; index + 1 < rawHeaders.length; index += 2)
    yield [rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '']
}

/** The fields, without those that are dropped. @param isDropped gets a name in lower case */
export function withoutFields(
  rawHeaders: readonly string[],
  isDropped: (name: string) => boolean,
): readonly string[] {
  return rawHeaders.filter((_, index) => !isDropped((rawHeaders[index - (index % 2)] ?? '').toLowerCase()))
}

/** Whether a name, as received, is this one. @param wanted in lower case */
export function isNamed(name: string | undefined, wanted: string): boolean {
  return name?.length === wanted.length && name.toLowerCase() === wanted
}

/**
 * The lengths of names: most names in a head have another length, and cost only this look-up.
 * @returns 1 at the index of each length; lengths from 256 on are not in it, and read as undefined
 */
export function lengthsOf(names: Iterable<string>): Uint8Array {
  const lengths = new Uint8Array(256)
  for (const { length } of names) lengths[length] = 1
  return lengths
}

/** The message is not HTTP/1.1, or two parsers could understand it differently. */
export class MalformedMessage extends Error {
  override readonly name = 'MalformedMessage'
  /** The malformed part: the name of a field, or `request-line`, `field-line`, `chunk`, `trailer`. */
  readonly field: string

  constructor(field: string, message: string) {
    super(message)
    this.field = field
  }
}

/** The body arrives more slowly than clients are required to send it. */
export class BodyTooSlow extends Error {
  override readonly name = 'BodyTooSlow'
}

/** The head is larger than allowed. */
export class HeadTooLarge extends Error {
  override readonly name = 'HeadTooLarge'
}

/** Why the client's input is not a request that can be handled. */
export type Unreadable = MalformedMessage | HeadTooLarge | 'timeout'
