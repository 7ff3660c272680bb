/** When a key was last used, and how. */
export interface KeyUse {
  readonly at: number
  readonly address: string
  /** `secretKey`: on a request; `accessToken`: with the account's other key, to get an access token. */
  readonly scheme: 'secretKey' | 'accessToken'
}

/** A use of one of an account's keys, to be stored. */
export interface RecordedKeyUse extends KeyUse {
  readonly accountId: string
  /** SHA-256 of the key, base64url: the uses of a key are dropped with the key. */
  readonly digest: string
}
