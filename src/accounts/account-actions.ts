import type { AccountStore } from '#store/accounts.ts'
import type { AuditStore } from '#store/audit.ts'
import type { Actor } from '#store/audit-entry.ts'
import type { ImportedKeyStore, KeyStore } from '#store/keys.ts'
import type { PortalStore } from '#store/portal.ts'
import type { SessionStore } from '#store/sessions.ts'
import type { UsageStore } from '#store/usage.ts'
import { type AccountSearch, createAccountSearch } from './account-search.ts'
import { type AccountSessions, createAccountSessions } from './account-sessions.ts'
import { type Accounts, createAccounts } from './accounts.ts'
import { type Apply, createApply } from './apply/apply.ts'
import { type AuditLog, createAuditEntryFactory, createAuditLog } from './audit-log.ts'
import { createDefaultKeys, type DefaultKeys } from './keys/default-keys.ts'
import type { KeyOptions } from './keys/make-key.ts'
import { createSecretKeys, type SecretKeys } from './keys/secret-keys.ts'
import { createPortalAccessActions, type PortalAccessActions } from './portal-access-actions.ts'
import { createProfile, type OwnProfile, type ProfileOptions } from './profile.ts'
import { createSetupLinks, type SetupLinks, type SetupLinksOptions } from './setup-links.ts'
import { createPlanReports, type PlanReports, type PlanReportsOptions } from './usage/plan-reports.ts'
import { createUsageReports, type UsageReports } from './usage/reports.ts'

/**
 * Account actions of one actor, who is named in the audit log. The caller authorises: Admins for any account, others
 * only for their own, with the ID of the viewer.
 */
export interface AccountActions extends PortalAccessActions {
  readonly accounts: Accounts
  readonly search: AccountSearch
  readonly defaultKeys: DefaultKeys
  readonly secretKeys: SecretKeys
  /** Brings accounts and keys to the state that a file describes. */
  readonly apply: Apply
  readonly sessions: AccountSessions
  readonly profile: OwnProfile
  readonly setupLinks: SetupLinks
  readonly audit: AuditLog
  readonly usage: UsageReports
  readonly plans: PlanReports
}

export type AccountActionsOf = (by: Actor) => AccountActions

type AccountActionsStore = AccountStore &
  KeyStore &
  Pick<ImportedKeyStore, 'findImportedKey'> &
  SessionStore &
  PortalStore &
  AuditStore &
  UsageStore

export interface AccountActionsOptions
  extends Omit<ProfileOptions, 'store' | 'accounts' | 'by' | 'entry'>,
    Pick<SetupLinksOptions, 'setupLinkLifetimeMs' | 'deliverSetupMail'>,
    Pick<PlanReportsOptions, 'plans' | 'readQuotaUsed'>,
    KeyOptions {
  readonly store: AccountActionsStore
  /** How long a token session lives without a refresh. */
  readonly refreshIdleMs: number
  /** How many secret keys an account may have. */
  readonly keysMax: number
}

/** The returned function is cheap: call it for each request. */
export function createAccountActions(options: AccountActionsOptions): AccountActionsOf {
  const { store, clock } = options
  const search = createAccountSearch(store)
  const audit = createAuditLog(store)
  const usage = createUsageReports(store, clock)
  const plans = createPlanReports(options)
  const planNames = Object.keys(options.plans)
  return (by) => {
    const accounts = createAccounts({ ...options, planNames, by })
    const entry = createAuditEntryFactory(by, clock)
    const common = { ...options, accounts, by, entry }
    const secretKeys = createSecretKeys(common)
    return {
      accounts,
      search,
      defaultKeys: createDefaultKeys(common),
      secretKeys,
      apply: createApply({ ...common, secretKeys }),
      sessions: createAccountSessions(common),
      profile: createProfile(common),
      setupLinks: createSetupLinks(common),
      audit,
      usage,
      plans,
      ...createPortalAccessActions(common),
    }
  }
}
