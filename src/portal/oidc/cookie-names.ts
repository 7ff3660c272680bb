/** A sign-in at the provider in progress, one for each of some tabs. */
export const flowCookieNames: readonly string[] = ['0', '1', '2'].map((index) => `gatehouse-sign-in-${index}`)
/** How a session began at the provider. */
export const beginningCookieName = 'gatehouse-oidc'
/** That the owner of a session has authenticated again. */
export const confirmationCookieName = 'gatehouse-confirmed'

/** Who may take over an account. */
export const takeOverCookieName = 'gatehouse-take-over'

export const oidcCookieNames: readonly string[] = [
  ...flowCookieNames,
  beginningCookieName,
  confirmationCookieName,
  takeOverCookieName,
]
