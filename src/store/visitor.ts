/** Where a request came from, as far as it is known and may be stored. */
export interface Visitor {
  /** The client address; behind trusted proxies the forwarded one (Forwarded, X-Forwarded-For). */
  readonly address: string
  /** As it was sent, at most `userAgentLengthMax` characters of it; '' where there is none. */
  readonly userAgent: string
}

/** How much of a User-Agent is kept. */
export const userAgentLengthMax = 200
