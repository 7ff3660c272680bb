import { widerNetwork } from '#platform/addresses.ts'
import { type AccountReader, emailKey } from '#store/accounts.ts'
import type { AuditAction, AuditEntry, AuditTarget } from '#store/audit-entry.ts'
import type { PortalStore } from '#store/portal.ts'
import type { Rate, RatePurpose, RateResult } from '#store/rates.ts'
import { en, type MailTexts } from './en.ts'
import { type Mail, mailTo, readMailTexts, type SendMail } from './mail.ts'
import type { Outbox } from './outbox.ts'

/**
 * Tells people by mail what happened to their account, as the audit log has it: so they are told no matter whether it
 * happened in the portal or through the admin API. Returns at once; a mail that is not accepted is logged.
 */
export type SendNotice = (entry: AuditEntry) => void

interface NoticesOptions {
  readonly store: Pick<PortalStore, 'noteSignInNetwork'> & Pick<AccountReader, 'findAccount'>
  readonly outbox: Pick<Outbox, 'add'>
  readonly sendMail: SendMail
  readonly limiter: { takeInProcess(purpose: RatePurpose, subject: string, rate: Rate): RateResult }
  /** The portal's URL as clients see it. */
  readonly portalUrl: string
}

/** Limits the mails to one account from each process: otherwise one session could cause any number. */
const noticeRate: Rate = { limit: 20, perMs: 3_600_000 }

export function createNotices({ store, outbox, sendMail, limiter, portalUrl }: NoticesOptions): SendNotice {
  function add(account: AuditTarget, run: (texts: MailTexts) => Promise<void>): void {
    if (!limiter.takeInProcess('notice', account.id, noticeRate).isAllowed) return
    const about = { mail: 'notice', account: account.id }
    outbox.add({ about, run: async () => run(await readMailTexts(store, account.id)) })
  }

  /** @param describe what happened, in the language of the texts */
  function tell(entry: AuditEntry, to: readonly string[], describe: (texts: MailTexts) => string): void {
    if (!entry.target) return
    add(entry.target, async (texts) => {
      for (const address of to)
        await sendMail(noticeMail(entry, { texts, what: describe(texts), to: address }))
    })
  }

  function tellOfSignIn(entry: AuditEntry, account: AuditTarget): void {
    if (entry.actor.kind !== 'account') return
    const network = widerNetwork(entry.actor.address)
    add(account, async (texts) => {
      const noted = await store.noteSignInNetwork(account.id, network)
      if (noted !== 'new') return
      await sendMail(noticeMail(entry, { texts, what: texts.newNetwork, to: account.email }))
    })
  }

  function noticeMail(
    { at, actor, target }: AuditEntry,
    { texts, what, to }: { readonly texts: MailTexts; readonly what: string; readonly to: string },
  ): Mail {
    const isOwn = actor.kind === 'account' && actor.id === target?.id
    const by = isOwn ? { address: actor.address } : actor.kind === 'account' ? 'admin' : undefined
    return mailTo(to, texts.notice({ what, at, by, portalUrl }))
  }

  return function sendNotice(entry) {
    const { action, target, actor, details } = entry
    // A key holder has ended the key: the owner gets a separate mail about that.
    if (!target || actor.kind === 'holder') return
    if (action === 'signed-in') return tellOfSignIn(entry, target)
    const { email, name } = details
    const isMoved = (action === 'account-updated' || action === 'email-verified') && typeof email === 'string'
    if (isMoved && emailKey(email) !== emailKey(target.email))
      return tell(entry, [target.email, email], ({ emailChanged }) => emailChanged(email))
    if (action === 'secret-key-reset' && typeof name === 'string')
      return tell(entry, [target.email], ({ furtherKeyReset }) => furtherKeyReset(name))
    const happening = happeningOf(action)
    if (happening) tell(entry, [target.email], ({ happenings }) => happenings[happening])
  }
}

function happeningOf(action: AuditAction): keyof MailTexts['happenings'] | undefined {
  // The cast is sound: it is a key of the table.
  return Object.hasOwn(en.happenings, action) ? (action as keyof MailTexts['happenings']) : undefined
}
