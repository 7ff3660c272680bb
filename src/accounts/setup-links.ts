/** A link with which a password can be set once. */
export interface SetupLink {
  /** `<publicUrl><portal.path>/setup#<token>`: in the fragment no server and no log sees the token. */
  readonly url: string
  readonly token: string
  readonly expiresAt: number
}

/** How long a set-up link works. */
export const setupLinkLifetimeMs = 15 * 60_000

export interface SetupLinks {
  /** A new link; the one before ends. @throws GatehouseError `account-not-found` */
  create(id: string): Promise<SetupLink>
}
