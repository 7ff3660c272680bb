import { GatehouseError } from '../errors/gatehouse-error.ts'
import type { Clock } from '../platform/clock.ts'
import { errorMessage } from '../platform/system-error.ts'
import { createLinkToken } from '../secrets/portal-tokens.ts'
import type { PortalStore } from '../store/portal.ts'
import type { Accounts } from './accounts.ts'
import type { AuditEntryFactory } from './audit-entry-factory.ts'

/** A one-time link to set a password. */
export interface SetupLink {
  /** `<publicUrl><portal.path>/setup#<token>`: servers and logs never see a fragment. */
  readonly url: string
  readonly token: string
  readonly expiresAt: number
}

export interface SetupLinks {
  /** Creates a link, which replaces the previous one. @throws GatehouseError `account-not-found` */
  create(idOrEmail: string): Promise<SetupLink>
}

export interface SetupLinksOptions {
  readonly store: Pick<PortalStore, 'setSetupLink'>
  readonly accounts: Accounts
  readonly entry: AuditEntryFactory
  /** The portal's URL as clients see it: `https://api.example.com/portal`. */
  readonly portalUrl: string
  /** `portal.setupLinkLifetime`. */
  readonly setupLinkLifetimeMs: number
  readonly clock: Clock
}

export function createSetupLinks({
  store,
  accounts,
  entry,
  portalUrl,
  setupLinkLifetimeMs,
  clock,
}: SetupLinksOptions): SetupLinks {
  return {
    create: async (id) => {
      const account = await accounts.find(id)
      const { token, digest } = createLinkToken('setup', account.id)
      const expiresAt = clock() + setupLinkLifetimeMs
      await store.setSetupLink(account.id, { digest, expiresAt }, entry('setup-link-created', account))
      return { url: `${portalUrl}/setup#${token}`, token, expiresAt }
    },
  }
}

/**
 * The set-up link of an account that was just created; undefined if it could not be created, with the reason for the
 * log. The response must not fail because of it: the keys are shown only there, and creating the account again would
 * be a 409.
 */
export async function tryCreateSetupLink(
  setupLinks: SetupLinks,
  accountId: string,
  onFailure: (reason: string) => void,
): Promise<SetupLink | undefined> {
  try {
    return await setupLinks.create(accountId)
  } catch (error) {
    const cause = error instanceof GatehouseError ? (error.cause ?? error) : error
    onFailure(`set-up link not created: ${errorMessage(cause)}`)
    return undefined
  }
}
