/** When a key was last used, and how. */
export interface KeyUse {
  readonly at: number
  readonly address: string
  /** `secretKey`: on a request; `accessToken`: with its twin, to get an access token. */
  readonly scheme: 'secretKey' | 'accessToken'
}

/** A use of one key of an account, to be noted. */
export interface NotedKeyUse extends KeyUse {
  readonly accountId: string
  /** SHA-256 of the key, base64url: what was noted of a key that is gone is dropped with it. */
  readonly digest: string
}
