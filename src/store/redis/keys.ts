/**
 * Names of the keys. All share one hash tag, so that a Cluster keeps them in one slot: only there can a
 * script change an account, the list of e-mails and the change log in one step, and only so is there one
 * order of all changes (docs/decisions/0004-one-slot.md).
 */
export function createKeys(prefix: string) {
  const base = `${prefix}{account}:`
  return {
    log: `${base}log`,
    head: `${base}log-head`,
    channel: `${base}changes`,
    emails: `${base}emails`,
    ids: `${base}ids`,
    signingKeys: `${base}signing-keys`,
    account: (id: string) => `${base}account:${id}`,
    session: (id: string) => `${base}session:${id}`,
    sessionsOf: (accountId: string) => `${base}sessions:${accountId}`,
  } as const
}

export type Keys = ReturnType<typeof createKeys>
