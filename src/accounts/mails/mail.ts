import { throwUnlessStoreUnavailable } from '#platform/errors/gatehouse-error.ts'
import { isLanguage, type Language } from '#platform/languages.ts'
import type { Account, AccountReader } from '#store/accounts.ts'
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
 * @param otherwise the language if the owner has chosen none
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
