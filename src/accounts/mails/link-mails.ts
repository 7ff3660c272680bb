import { spanText } from '#platform/time.ts'
import type { Mail } from '../profile.ts'

/** What a mail with a link says of it. */
interface MailedLink {
  readonly to: string
  readonly url: string
  readonly lifetimeMs: number
  readonly expiresAt: number
}

/** The mail for somebody who has forgotten the password. */
export function resetMail(link: MailedLink): Mail {
  return {
    to: link.to,
    subject: 'Choose a new password',
    text: [
      `Somebody, probably you, asked for a new password for the account ${link.to}. Open this link to choose one:`,
      '',
      link.url,
      '',
      untilText(link),
      '',
      'A new password signs out every browser. Keys, and programs that use them, keep working.',
      '',
      'If you did not ask for this, ignore this e-mail: nothing has changed.',
      '',
    ].join('\n'),
  }
}

/** The mail for the owner of an account who has no password yet, or needs another. @param portalUrl where to sign in */
export function setupMail(link: MailedLink, portalUrl: string): Mail {
  return {
    to: link.to,
    subject: 'Choose your password',
    text: [
      `An administrator has created an account for you: ${link.to}. Open this link to choose its password:`,
      '',
      link.url,
      '',
      untilText(link),
      '',
      `Then sign in to manage your keys: ${portalUrl}`,
      '',
      'Setting a password signs out every browser. Keys, and programs that use them, keep working.',
      '',
    ].join('\n'),
  }
}

function untilText({ lifetimeMs, expiresAt }: MailedLink): string {
  const until = new Date(expiresAt).toISOString().slice(0, 16).replace('T', ' ')
  return `It works once, for ${spanText(lifetimeMs)}: until ${until} UTC.`
}
