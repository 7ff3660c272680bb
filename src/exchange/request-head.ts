/** How the body of a request ends (RFC 9112 6.3). */
export type RequestBody =
  | { readonly kind: 'none'; readonly isEmpty: boolean }
  | { readonly kind: 'counted'; readonly length: number }
  | { readonly kind: 'chunked' }

/** The head of a request, as it was sent. */
export interface RequestHead {
  /** Any token. */
  readonly method: string
  /** As in the request line, with bytes above 0x7F percent-encoded; it may hold control characters. */
  readonly target: string
  /** 0 or 1: the y in HTTP/1.y. */
  readonly minorVersion: number
  /** Name, value, name, value: in their order and case. */
  readonly rawHeaders: readonly string[]
  readonly body: RequestBody
  /** Whether the client may send another request on this connection (RFC 9112 9.3). */
  readonly isPersistent: boolean
  readonly expectsContinue: boolean
  /** Value of Upgrade, in lower case, where Connection names it. */
  readonly upgrade: string | undefined
  /** Set where the fields were found in the head cache, byte for byte: rawHeaders is then the same array. */
  readonly repeated: RepeatedFields | undefined
  /** Set where the request line came before, byte for byte: method and target are then the same texts. */
  readonly repeatedLine?: RepeatedLine | undefined
}

/** Belongs to fields that repeat: what was derived from them can be kept here, and goes with them. */
export interface RepeatedFields {
  /** For http/request-fields.ts alone. */
  derived: object | undefined
}

/**
 * Belongs to a request line that repeats, and goes with it. What is found for it is here itself, as an object of its own would
 * be one more load from memory for each of thousands of lines.
 */
export interface RepeatedLine {
  /** As in the line. */
  readonly method: string
  /** Written by http/known-destinations.ts alone: that of the last request with it, and for whom. */
  destination: object | undefined
  destinationHost: string
  destinationKeeper: object | undefined
  /** Written by http/route-request.ts: the route of this destination, and its table; another destination unsets that. */
  route: object | undefined
  routeTable: object | undefined
  /**
   * For proxy/kept-start.ts alone: the start of the first request with it, for the upstream, and what it is for. Empty = none
   * is kept.
   */
  start: string
  startDestination: object | undefined
  startRoute: object | undefined
  startHost: string
  /** The target in it. */
  startPath: string
}

/** The head without what the client chose, for a request that lasts: each text of a head keeps all of it in memory. */
export function withoutTexts(head: RequestHead): RequestHead {
  return { ...head, target: '', rawHeaders: [], repeatedLine: undefined }
}
