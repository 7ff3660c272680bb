/** From where somebody came: as far as it can be told, and no further than it may be kept. */
export interface Visitor {
  /** Client address, behind trusted proxies the one they tell. */
  readonly address: string
  /** User-Agent as it was sent, at most `clientLengthMax` characters of it; '' where there is none. */
  readonly client: string
}

/** How much of a User-Agent is kept. */
export const clientLengthMax = 200
