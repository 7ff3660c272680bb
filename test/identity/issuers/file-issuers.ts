import { type IssuerOptions, issuerAlgorithms } from '#identity/issuers/issuer.ts'
import { type Issuers, type IssuersOptions, openIssuers } from '#identity/issuers/issuers.ts'

/** An issuer whose keys are in a file. */
export function fileIssuer(
  issuer: string,
  keys: readonly object[],
  changes: Partial<IssuerOptions> = {},
): IssuerOptions {
  return {
    name: 'corp',
    issuer,
    audiences: ['orders'],
    require: [],
    algorithms: issuerAlgorithms,
    tokenType: 'any',
    keys: { kind: 'file', text: JSON.stringify({ keys }) },
    subject: ['sub'],
    role: { claim: undefined, map: [], default: 'User' },
    scopes: ['scope'],
    email: undefined,
    plan: undefined,
    ...changes,
  }
}

/** Opens issuers whose keys are in files: nothing is fetched or logged. */
export async function openFileIssuers(
  options: readonly IssuerOptions[],
  verified: IssuersOptions['verified'],
): Promise<Issuers['all']> {
  const issuers = openIssuers({
    issuers: options,
    verified,
    log: { info: () => {}, error: () => {} },
    clockToleranceMs: 5_000,
    answersMax: 1_000,
    clock: Date.now,
    monotonic: () => 0,
    isRefreshed: true,
    onReplaced: () => {},
    onFetched: () => {},
    onAsked: () => {},
  })
  await issuers.settled()
  return issuers.all
}
