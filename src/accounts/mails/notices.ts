import { widerNetwork } from '#platform/addresses.ts'
import { emailKey } from '#store/account.ts'
import type { AuditAction, AuditEntry, AuditSubject } from '#store/audit-entry.ts'
import type { PortalStore } from '#store/portal.ts'
import type { Rate, RateResult } from '#store/rates.ts'
import type { Mail, SendMail } from '../profile.ts'
import type { Outbox } from './outbox.ts'

/**
 * Tells people by mail what happened to their account, from what is written to the audit log: so it is the same in the
 * portal and through the admin API. Returns at once; a mail that is not accepted is logged.
 */
export type SendNotice = (entry: AuditEntry) => void

interface NoticesOptions {
  readonly store: Pick<PortalStore, 'noteSignInNetwork'>
  readonly outbox: Pick<Outbox, 'add'>
  readonly sendMail: SendMail
  readonly limiter: { takeInProcess(purpose: string, subject: string, rate: Rate): RateResult }
  /** The portal's URL as clients see it. */
  readonly portalUrl: string
}

/** Limits the mails to one account from each process: otherwise one session could cause any number. */
const noticeRate: Rate = { limit: 20, perMs: 3_600_000 }

/** What happened, for the subject and the first line of a mail. */
const happenings: Readonly<Partial<Record<AuditAction, string>>> = {
  'secret-key-reset': 'The secret key of your account was reset',
  'api-key-reset': 'The API key of your account was reset',
  'password-set': 'A password was set for your account',
  'password-changed': 'The password of your account was changed',
  'second-factor-enabled': 'Two-factor sign-in was turned on for your account',
  'second-factor-disabled': 'Two-factor sign-in was turned off for your account',
  'passkey-added': 'A passkey was added to your account',
  'passkey-removed': 'A passkey was removed from your account',
  'second-factor-reset': 'Two-factor sign-in was removed from your account',
}

export function createNotices(options: NoticesOptions): SendNotice {
  const { store, outbox, sendMail, limiter, portalUrl } = options

  function add(account: AuditSubject, run: () => Promise<void>): void {
    if (!limiter.takeInProcess('notice', account.id, noticeRate).isAllowed) return
    outbox.add({ about: { mail: 'notice', account: account.id }, run })
  }

  function tell(entry: AuditEntry, account: AuditSubject, what: string, to: readonly string[]): void {
    add(account, async () => {
      for (const address of to) await sendMail(noticeMail(entry, { what, to: address, portalUrl }))
    })
  }

  function tellOfSignIn(entry: AuditEntry, account: AuditSubject): void {
    if (entry.actor.kind !== 'account') return
    const network = widerNetwork(entry.actor.address)
    add(account, async () => {
      const noted = await store.noteSignInNetwork(account.id, network)
      if (noted !== 'new') return
      const what = 'Your account was signed in to from a new network'
      await sendMail(noticeMail(entry, { what, to: account.email, portalUrl }))
    })
  }

  return function sendNotice(entry) {
    const { action, target, actor, details } = entry
    // A key holder has ended the key: the owner gets a separate mail about that.
    if (!target || actor.kind === 'holder') return
    if (action === 'signed-in') return tellOfSignIn(entry, target)
    const { email } = details
    const isMoved = (action === 'account-updated' || action === 'email-verified') && typeof email === 'string'
    if (isMoved && emailKey(email) !== emailKey(target.email)) {
      tell(entry, target, `The e-mail of your account is now ${email}`, [target.email, email])
      return
    }
    const { name } = details
    const happening = happenings[action]
    // A further key was rotated.
    const what = typeof name === 'string' ? happening?.replace('key', `key "${name}"`) : happening
    if (what !== undefined) tell(entry, target, what, [target.email])
  }
}

interface Notice {
  readonly what: string
  readonly to: string
  readonly portalUrl: string
}

function noticeMail({ at, actor, target }: AuditEntry, { what, to, portalUrl }: Notice): Mail {
  const when = new Date(at).toISOString().slice(0, 16).replace('T', ' ')
  const isOwn = actor.kind === 'account' && actor.id === target?.id
  const by = actor.kind === 'account' ? (isOwn ? ` from ${actor.address}` : ' by an administrator') : ''
  return {
    to,
    subject: what,
    text: [
      `${what}, at ${when} UTC${by}.`,
      '',
      'If this was you, or you know of it, there is nothing to do. If not, choose a new password, end all sessions and',
      'reset your keys in the portal, and tell an administrator:',
      '',
      portalUrl,
      '',
    ].join('\n'),
  }
}
