/**
 * The names of keys. All lasting data shares one hash tag, so that a Cluster keeps it in one slot: only within a slot
 * can a script atomically change an account, the list of e-mails and the change log, and give all changes one order
 * (docs/decisions/0004-one-slot.md). Counters of rates and quotas expire, and are spread over the slots.
 */
export function createKeyNames(prefix: string) {
  const base = `${prefix}{account}:`
  return {
    log: `${base}log`,
    head: `${base}log-head`,
    storeId: `${base}store-id`,
    format: `${base}format`,
    lostId: `${base}lost-id`,
    restore: `${base}restore`,
    writeProbe: `${base}write-probe`,
    channel: `${base}changes`,
    emails: `${base}emails`,
    ids: `${base}ids`,
    identities: `${base}identities`,
    importedKeys: `${base}imported-keys`,
    signingKeys: `${base}signing-keys`,
    blockedSubjects: `${base}blocked-subjects`,
    account: (id: string) => `${base}account:${id}`,
    session: (id: string) => `${base}session:${id}`,
    sessionsOf: (accountId: string) => `${base}sessions:${accountId}`,
    openSessionsOf: (accountId: string, epoch: number) => `${base}open-sessions:${accountId}:${epoch}`,
    terms: `${base}terms`,
    audit: `${base}audit`,
    ownAudit: `${base}audit-own`,
    auditChains: `${base}audit-chains`,
    auditOnce: (id: string) => `${base}audit-once:${id}`,
    eventReceivers: `${base}event-receivers`,
    portalSessionsOf: (accountId: string) => `${base}portal-sessions:${accountId}`,
    keyUsesOf: (accountId: string) => `${base}key-uses:${accountId}`,
    usageOf: (accountId: string, month: string) => `${base}usage:${accountId}:${month}`,
    usagePrincipals: `${base}usage-principals`,
    activeDays: `${base}active-days`,
    usageBatch: (id: string) => `${base}usage-batch:${id}`,
    instances: `${prefix}instances`,
    quota: (subject: string, window: string) => `${prefix}quota:${subject}:${window}`,
    rate: (subject: string) => `${prefix}rate:${subject}`,
  } as const
}

export type KeyNames = ReturnType<typeof createKeyNames>
