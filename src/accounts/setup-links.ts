import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { errorMessage } from '#platform/errors/operator-error.ts'
import { createLinkToken } from '#platform/secrets/link-tokens.ts'
import type { EpochMs } from '#platform/time.ts'
import type { Account } from '#store/accounts.ts'
import type { PortalStore } from '#store/portal.ts'
import { accountNotFound } from './account-input.ts'
import { mailTextsFor, mailTo } from './mails/mail.ts'
import type { DeliverMail } from './mails/outbox.ts'
import type { ProfileOptions } from './profile.ts'

/** A one-time link to set a password. */
export interface SetupLink {
  /** `<publicUrl><portal.path>/setup#<token>`: servers and logs never see a fragment. */
  readonly url: string
  readonly token: string
  readonly expiresAt: EpochMs
}

export interface SetupLinks {
  /** Creates a link, which replaces the previous one. @throws GatehouseError `account-not-found` */
  create(idOrEmail: string): Promise<SetupLink>
  /** Whether links can be mailed (config `mail`). */
  readonly canMail: boolean
  /**
   * Creates a link, and mails it to the account's e-mail: it works only while the account has that e-mail.
   * @throws GatehouseError `account-not-found`, `mail-unavailable`
   */
  mail(idOrEmail: string): Promise<void>
}

export interface SetupLinksOptions
  extends Pick<ProfileOptions, 'accounts' | 'entry' | 'portalUrl' | 'clock'> {
  readonly store: Pick<PortalStore, 'setSetupLink'>
  /** `portal.setupLinkLifetime`. */
  readonly setupLinkLifetimeMs: number
  /** undefined = no link can be mailed. */
  readonly deliverSetupMail: DeliverMail | undefined
}

export function createSetupLinks(options: SetupLinksOptions): SetupLinks {
  const { store, accounts, entry, portalUrl, setupLinkLifetimeMs, deliverSetupMail, clock } = options

  async function makeLink(account: Account, sentTo?: string): Promise<SetupLink> {
    const { token, digest } = createLinkToken('setup', account.id)
    const expiresAt = clock() + setupLinkLifetimeMs
    const link = { digest, expiresAt, ...(sentTo !== undefined && { sentTo }) }
    const created = entry('setup-link-created', account, { isMailed: sentTo !== undefined })
    // The account was deleted meanwhile.
    if (!(await store.setSetupLink(account.id, link, created))) accountNotFound()
    return { url: `${portalUrl}/setup#${token}`, token, expiresAt }
  }

  async function mail(idOrEmail: string): Promise<void> {
    if (!deliverSetupMail) throw new GatehouseError('mail-unavailable')
    const account = await accounts.get(idOrEmail)
    const { email: to } = account
    const { url, expiresAt } = await makeLink(account, to)
    const link = { to, url, expiresAt, lifetimeMs: setupLinkLifetimeMs }
    const text = mailTextsFor(account).setUp(link, portalUrl)
    await deliverSetupMail(mailTo(to, text), { mail: 'set-up link', account: account.id })
  }

  return {
    create: async (idOrEmail) => makeLink(await accounts.get(idOrEmail)),
    canMail: deliverSetupMail !== undefined,
    mail,
  }
}

/**
 * Creates the set-up link of an account that was just created, or mails it. If that fails, the reason goes to the log
 * and the request still succeeds: the response is the only place that shows the new keys, and creating the account
 * again would be a 409.
 * @returns the link, or that it was mailed; undefined = neither succeeded
 */
export async function tryCreateSetupLink(
  setupLinks: SetupLinks,
  accountId: string,
  onFailure: (reason: string) => void,
  { isMailed }: { readonly isMailed: boolean },
): Promise<SetupLink | 'mailed' | undefined> {
  try {
    if (!isMailed) return await setupLinks.create(accountId)
    await setupLinks.mail(accountId)
    return 'mailed'
  } catch (error) {
    const cause = error instanceof GatehouseError ? (error.cause ?? error) : error
    onFailure(`set-up link not created: ${errorMessage(cause)}`)
    return undefined
  }
}
