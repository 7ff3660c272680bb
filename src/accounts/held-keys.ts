import { isForeignKey } from '#platform/secrets/key-format.ts'
import { digestOf, findKey, isApiKeyOf, type ParsedKey, parseKey } from '#platform/secrets/keys.ts'
import type { Clock } from '#platform/time.ts'
import type { Account, AccountReader } from '#store/accounts.ts'
import type { Actor } from '#store/audit-entry.ts'
import type { ImportedKeyStore, KeyStore } from '#store/keys.ts'
import type { SessionStore, Visitor } from '#store/sessions.ts'
import type { AccountActionsOf } from './account-actions.ts'
import { endSessionsOfLostKeys } from './account-sessions.ts'
import { createAuditEntryFactory } from './audit-log.ts'
import { mailTextsFor, mailTo } from './mails/mail.ts'
import type { DeliverMail } from './mails/outbox.ts'

/**
 * Ends a key for whoever holds it: finders of a leaked key, and secret scanners. Revokes a secret key, and its sessions
 * with it; replaces an API key by one that is shown only in the portal. The owner is told by mail, if mail is
 * configured. Any other text is ignored, without an error.
 * @throws GatehouseError `store-unavailable`
 */
export type EndHeldKey = (text: string, visitor: Visitor) => Promise<void>

interface HeldKeyEnderOptions {
  readonly store: Pick<AccountReader, 'findAccount'> &
    Pick<KeyStore, 'revokeSecretKey'> &
    Pick<ImportedKeyStore, 'findImportedKey'> &
    Pick<SessionStore, 'listSessions' | 'endSession'>
  readonly actionsOf: AccountActionsOf
  /** undefined = no mail can be sent. */
  readonly deliverMail: DeliverMail | undefined
  /** The portal's URL as clients see it. */
  readonly portalUrl: string
  readonly clock: Clock
}

export function createHeldKeyEnder(options: HeldKeyEnderOptions): EndHeldKey {
  const { store, actionsOf, deliverMail, portalUrl, clock } = options

  /**
   * The outbox sends the mail, so that no caller waits for it: how long a call takes must not tell whether there was
   * such a key.
   * @param name of the secret key; undefined = it is the API key
   */
  async function tellOwner(account: Account, name: string | undefined): Promise<void> {
    const text = mailTextsFor(account).keyEnded(name, clock(), portalUrl)
    await deliverMail?.(mailTo(account.email, text), { mail: 'key ended', account: account.id })
  }

  async function endSecretKey(account: Account, digest: Uint8Array, actor: Actor): Promise<void> {
    const key = findKey(account.secretKeys, digest)
    if (!key) return
    const { name } = key
    const now = clock()
    const entry = createAuditEntryFactory(actor, clock)('secret-key-revoked', account, {
      name,
      graceSeconds: 0,
    })
    // Only this key: another of the same name may have replaced it.
    const revocation = { name, now, graceUntil: undefined, only: digest }
    const after = await store.revokeSecretKey(account.id, revocation, entry)
    if (!after) return
    await tellOwner(account, name)
    await endSessionsOfLostKeys(store, account, after, now)
  }

  async function endApiKey(account: Account, actor: Actor): Promise<void> {
    const replaced = await actionsOf(actor).defaultKeys.replaceApiKey(account.id, account.apiKey.createdAt)
    if (replaced !== undefined) await tellOwner(account, undefined)
  }

  /** A key that was made elsewhere. */
  async function findForeign(text: string): Promise<ParsedKey | undefined> {
    if (!isForeignKey(text)) return undefined
    const digest = digestOf(text)
    const accountId = await store.findImportedKey(digest)
    return accountId === undefined ? undefined : { accountId, digest }
  }

  return async (text, { address }) => {
    const secretKey = parseKey('secretKey', text) ?? (await findForeign(text))
    const apiKey = parseKey('apiKey', text)
    const parsed = secretKey ?? apiKey
    const account = parsed && (await store.findAccount(parsed.accountId))
    if (!account) return
    const actor: Actor = { kind: 'holder', channel: 'api', address }
    if (secretKey) await endSecretKey(account, secretKey.digest, actor)
    if (apiKey && isApiKeyOf(account, apiKey.digest)) await endApiKey(account, actor)
  }
}
