import { widerNetwork } from '#platform/addresses.ts'
import { throwUnlessStoreUnavailable } from '#platform/errors/gatehouse-error.ts'
import { isLanguage, type Language } from '#platform/text.ts'
import { type Account, type AccountReader, emailKey } from '#store/accounts.ts'
import type { AuditAction, AuditEntry, AuditSubject } from '#store/audit-entry.ts'
import type { PortalStore } from '#store/portal.ts'
import type { Rate, RatePurpose, RateResult } from '#store/rates.ts'
import { de } from './de.ts'
import { en, type MailTexts } from './en.ts'

/** Sends a mail. @throws GatehouseError `mail-unavailable` where the server rejected the mail */
export type SendMail = (mail: Mail) => Promise<void>

export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
}

const texts: Readonly<Record<Language, MailTexts>> = { en, de }

/**
 * The texts of a mail to the owner of an account, in the language that the owner has chosen.
 * @param otherwise if the owner has chosen none
 */
export function mailTextsFor(account: Pick<Account, 'portal'>, otherwise: Language = 'en'): MailTexts {
  const { language } = account.portal
  return texts[isLanguage(language) ? language : otherwise]
}

/** The texts of a mail to the account with an ID; in English if the store is unavailable. */
export async function readMailTexts(
  store: Pick<AccountReader, 'findAccount'>,
  id: string,
): Promise<MailTexts> {
  try {
    const account = await store.findAccount(id)
    return account ? mailTextsFor(account) : en
  } catch (error) {
    throwUnlessStoreUnavailable(error)
    return en
  }
}

export function mailTo(to: string, { subject, lines }: ReturnType<MailTexts['notice']>): Mail {
  return { to, subject, text: [...lines, ''].join('\n') }
}

/** Sends mails in the background: no answer waits for a mail server, or tells by its time whether there was a mail. */
export interface Outbox {
  /** Does the work later; work beyond `waitingMax` is dropped, and reported as a failure. Never throws. */
  add(work: OutboxWork): void
  /** Resolves once what was added is done, or after `graceMs`. */
  close(graceMs: number): Promise<void>
}

interface OutboxWork {
  /** For the log, if it fails: which mail it was. Never an e-mail address or a link. */
  readonly about: { readonly mail: string; readonly account?: string | undefined }
  run(): Promise<void>
}

interface OutboxOptions {
  /** Called once for each mail that is not sent. */
  onFailure(error: unknown, about: OutboxWork['about']): void
}

/** How much may wait, some 1 KB each, and how many mails are sent at a time. */
export const waitingMax = 1_000
const atOnceMax = 4

export function openOutbox({ onFailure }: OutboxOptions): Outbox {
  const waiting: OutboxWork[] = []
  const running = new Set<Promise<void>>()

  function startNext(): void {
    while (running.size < atOnceMax) {
      const work = waiting.shift()
      if (!work) return
      const done: Promise<void> = runOne(work).finally(() => {
        running.delete(done)
        startNext()
      })
      running.add(done)
    }
  }

  async function runOne({ run, about }: OutboxWork): Promise<void> {
    try {
      await run()
    } catch (error) {
      onFailure(error, about)
    }
  }

  return {
    add: (work) => {
      if (waiting.length >= waitingMax) {
        onFailure(new Error(`${waitingMax} mails are waiting: this one was dropped`), work.about)
        return
      }
      waiting.push(work)
      // Delayed, so that the response that this mail is about goes out first.
      setImmediate(startNext)
    },
    close: async (graceMs) => {
      const { promise: late, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, graceMs)
      const settle = async () => {
        startNext()
        while (running.size > 0) await Promise.race(running)
      }
      await Promise.race([settle(), late])
      clearTimeout(timer)
    },
  }
}

/** Hands a mail over. In the gateway it resolves at once, as the outbox sends it; for commands once it is sent. */
export type DeliverMail = (mail: Mail, about: OutboxWork['about']) => Promise<void>

export function deliverInBackground(outbox: Pick<Outbox, 'add'>, sendMail: SendMail): DeliverMail {
  return async (mail, about) => outbox.add({ about, run: () => sendMail(mail) })
}

/**
 * Tells people by mail what happened to their account, from what is written to the audit log: so it is the same in the
 * portal and through the admin API. Returns at once; a mail that is not accepted is logged.
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

export function createNotices(options: NoticesOptions): SendNotice {
  const { store, outbox, sendMail, limiter, portalUrl } = options

  function add(account: AuditSubject, run: (texts: MailTexts) => Promise<void>): void {
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

  function tellOfSignIn(entry: AuditEntry, account: AuditSubject): void {
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
