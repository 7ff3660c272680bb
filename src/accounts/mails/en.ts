import { english } from '#platform/languages.ts'
import { type EpochMs, formatMinute, spanText } from '#platform/time.ts'
import type { AuditAction } from '#store/audit-entry.ts'

/** The subject and the lines of a mail. */
interface MailText {
  readonly subject: string
  readonly lines: readonly string[]
}

/** The link in a mail, and how long it works. */
export interface MailedLink {
  readonly to: string
  readonly url: string
  readonly lifetimeMs: number
  readonly expiresAt: EpochMs
}

/** Who asks for an e-mail to be verified. Without names: the requester could put any text there. */
interface AskedVerification {
  readonly to: string
  readonly url: string
  readonly account: { readonly id: string; readonly email: string }
  /** The requester's address. */
  readonly from: string | undefined
  readonly at: number
}

/** What happened, for the subject and the first line of a mail. */
const happenings = {
  'secret-key-reset': 'The secret key of your account was reset',
  'api-key-reset': 'The API key of your account was reset',
  'password-set': 'A password was set for your account',
  'password-changed': 'The password of your account was changed',
  'second-factor-enabled': 'Two-factor sign-in was turned on for your account',
  'second-factor-disabled': 'Two-factor sign-in was turned off for your account',
  'passkey-added': 'A passkey was added to your account',
  'passkey-removed': 'A passkey was removed from your account',
  'second-factor-reset': 'Two-factor sign-in was removed from your account',
} satisfies Partial<Record<AuditAction, string>>

interface Happening {
  readonly what: string
  readonly at: number
  /** `admin` = somebody else did it; an address = the owner did it from there; undefined = neither. */
  readonly by: 'admin' | { readonly address: string } | undefined
  readonly portalUrl: string
}

interface NamedKey {
  readonly name: string
  readonly portalUrl: string
}

export const en = {
  /** For somebody who has forgotten the password. */
  forgottenPassword: (link: MailedLink): MailText => ({
    subject: 'Choose a new password',
    lines: [
      `Somebody, probably you, asked for a new password for the account ${link.to}. Open this link to choose one:`,
      '',
      link.url,
      '',
      untilText(link),
      '',
      'A new password signs out every browser. Keys, and programs that use them, keep working.',
      '',
      'If you did not ask for this, ignore this e-mail: nothing has changed.',
    ],
  }),
  /** For the owner of an account who has no password yet, or needs another. @param portalUrl where to sign in */
  setUp: (link: MailedLink, portalUrl: string): MailText => ({
    subject: 'Choose your password',
    lines: [
      `An administrator has sent you this link to choose the password of your account ${link.to}:`,
      '',
      link.url,
      '',
      untilText(link),
      '',
      `Then sign in to manage your keys: ${portalUrl}`,
      '',
      'Setting a password signs out every browser. Keys, and programs that use them, keep working.',
    ],
  }),
  verification: ({ to, url, account, from, at }: AskedVerification): MailText => ({
    subject: `Verify this e-mail address for the account ${account.email}`,
    lines: [
      `Whoever is signed in to the account ${account.email} (ID ${account.id}) asked at ${formatMinute(at)}${from === undefined ? '' : `, from ${from},`}`,
      `for ${to} to be the e-mail address of that account.`,
      '',
      'If that is your account, open this link, and sign in to the account:',
      '',
      url,
      '',
      'It works once, within an hour. If it is not your account, ignore this e-mail: nothing changes without you.',
    ],
  }),
  keyExpires: ({ name, expiresAt, portalUrl }: NamedKey & { readonly expiresAt: EpochMs }): MailText => ({
    subject: `Your secret key "${name}" is about to expire`,
    lines: [
      `The secret key "${name}" of your account expires on ${formatMinute(expiresAt)}.`,
      '',
      'Programs that use it are refused from then on. Rotate it in the portal: the old key can keep working for a while,',
      'until each program has the new one.',
      '',
      portalUrl,
    ],
  }),
  /** @param name of the secret key; undefined = it is the API key */
  keyEnded: (name: string | undefined, at: number, portalUrl: string): MailText => ({
    subject: 'A key of your account was revoked',
    lines: [
      `Somebody who holds the ${name === undefined ? 'API key' : `secret key "${name}"`} of your account revoked it at ${formatMinute(at)}.`,
      '',
      'It was probably found where it should not be: in a repository, a log or a message. It no longer works.',
      'If a program of yours uses it, create a new key and give it to the program:',
      '',
      portalUrl,
    ],
  }),
  happenings,
  furtherKeyReset: (name: string) => `The secret key "${name}" of your account was reset`,
  emailChanged: (email: string) => `The e-mail of your account is now ${email}`,
  newNetwork: 'Your account was signed in to from a new network',
  notice: ({ what, at, by, portalUrl }: Happening): MailText => ({
    subject: what,
    lines: [
      `${what}, at ${formatMinute(at)}${by === 'admin' ? ' by an administrator' : by ? ` from ${by.address}` : ''}.`,
      '',
      'If this was you, or you know of it, there is nothing to do. If not, choose a new password, end all sessions and',
      'reset your keys in the portal, and tell an administrator:',
      '',
      portalUrl,
    ],
  }),
}

function untilText({ lifetimeMs, expiresAt }: MailedLink): string {
  return `It works once, for ${spanText(lifetimeMs, english)}: until ${formatMinute(expiresAt)}.`
}

/** The texts of all mails, in every language. */
export type MailTexts = typeof en
