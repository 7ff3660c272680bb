import { german } from '#platform/languages.ts'
import { formatMinute, spanText } from '#platform/time.ts'
import type { MailedLink, MailTexts } from './en.ts'

export const de: MailTexts = {
  forgottenPassword: (link) => ({
    subject: 'Wählen Sie ein neues Passwort',
    lines: [
      `Jemand, wahrscheinlich Sie, hat für das Konto ${link.to} ein neues Passwort angefordert. Öffnen Sie diesen Link, um`,
      'eines zu wählen:',
      '',
      link.url,
      '',
      untilText(link),
      '',
      'Ein neues Passwort meldet alle Browser ab. Schlüssel und Programme, die sie verwenden, funktionieren weiter.',
      '',
      'Wenn Sie das nicht angefordert haben, ignorieren Sie diese E-Mail: Es hat sich nichts geändert.',
    ],
  }),
  setUp: (link, portalUrl) => ({
    subject: 'Wählen Sie Ihr Passwort',
    lines: [
      `Die Administration schickt Ihnen diesen Link, damit Sie das Passwort für Ihr Konto ${link.to} wählen können:`,
      '',
      link.url,
      '',
      untilText(link),
      '',
      `Melden Sie sich danach an, um Ihre Schlüssel zu verwalten: ${portalUrl}`,
      '',
      'Das Passwort zu setzen meldet alle Browser ab. Schlüssel und Programme, die sie verwenden, funktionieren weiter.',
    ],
  }),
  verification: ({ to, url, account, from, at }) => ({
    subject: `Bestätigen Sie diese E-Mail-Adresse für das Konto ${account.email}`,
    lines: [
      `Im Konto ${account.email} (ID ${account.id}) wurde am ${formatMinute(at)}${from === undefined ? '' : `, von ${from} aus,`}`,
      `darum gebeten, ${to} zur E-Mail-Adresse dieses Kontos zu machen.`,
      '',
      'Wenn das Ihr Konto ist, öffnen Sie diesen Link, und melden Sie sich in diesem Konto an:',
      '',
      url,
      '',
      'Er funktioniert einmal, innerhalb einer Stunde. Wenn es nicht Ihr Konto ist, ignorieren Sie diese E-Mail: Ohne Sie',
      'ändert sich nichts.',
    ],
  }),
  keyExpires: ({ name, expiresAt, portalUrl }) => ({
    subject: `Ihr Geheimschlüssel „${name}“ läuft bald ab`,
    lines: [
      `Der Geheimschlüssel „${name}“ Ihres Kontos läuft am ${formatMinute(expiresAt)} ab.`,
      '',
      'Programme, die ihn verwenden, werden von da an abgewiesen. Erneuern Sie ihn im Portal: Der alte Schlüssel kann noch',
      'eine Zeit lang weiter funktionieren, bis jedes Programm den neuen hat.',
      '',
      portalUrl,
    ],
  }),
  keyEnded: (name, at, portalUrl) => ({
    subject: 'Ein Schlüssel Ihres Kontos wurde widerrufen',
    lines: [
      `Jemand, der ${name === undefined ? 'den API-Schlüssel' : `den Geheimschlüssel „${name}“`} Ihres Kontos hat, hat ihn am ${formatMinute(at)} widerrufen.`,
      '',
      'Er wurde wahrscheinlich gefunden, wo er nicht sein sollte: in einem Repository, einem Protokoll oder einer',
      'Nachricht. Er funktioniert nicht mehr. Wenn eines Ihrer Programme ihn verwendet, erstellen Sie einen neuen Schlüssel,',
      'und geben Sie ihn dem Programm:',
      '',
      portalUrl,
    ],
  }),
  happenings: {
    'secret-key-reset': 'Der Geheimschlüssel Ihres Kontos wurde zurückgesetzt',
    'api-key-reset': 'Der API-Schlüssel Ihres Kontos wurde zurückgesetzt',
    'password-set': 'Für Ihr Konto wurde ein Passwort gesetzt',
    'password-changed': 'Das Passwort Ihres Kontos wurde geändert',
    'second-factor-enabled': 'Die Zwei-Faktor-Anmeldung Ihres Kontos wurde eingeschaltet',
    'second-factor-disabled': 'Die Zwei-Faktor-Anmeldung Ihres Kontos wurde ausgeschaltet',
    'passkey-added': 'Zu Ihrem Konto wurde ein Passkey hinzugefügt',
    'passkey-removed': 'Ein Passkey Ihres Kontos wurde entfernt',
    'second-factor-reset': 'Die Zwei-Faktor-Anmeldung Ihres Kontos wurde entfernt',
  },
  furtherKeyReset: (name) => `Der Geheimschlüssel „${name}“ Ihres Kontos wurde erneuert`,
  emailChanged: (email) => `Die E-Mail-Adresse Ihres Kontos ist jetzt ${email}`,
  newNetwork: 'In Ihrem Konto hat sich jemand aus einem neuen Netzwerk angemeldet',
  notice: ({ what, at, by, portalUrl }) => ({
    subject: what,
    lines: [
      `${what} (${formatMinute(at)}${by === 'admin' ? ', durch die Administration' : by ? `, von ${by.address} aus` : ''}).`,
      '',
      'Wenn Sie das waren oder davon wissen, müssen Sie nichts tun. Andernfalls wählen Sie ein neues Passwort, beenden Sie',
      'alle Sitzungen, und setzen Sie Ihre Schlüssel im Portal zurück. Sagen Sie der Administration Bescheid:',
      '',
      portalUrl,
    ],
  }),
}

function untilText({ lifetimeMs, expiresAt }: MailedLink): string {
  return `Er funktioniert einmal, ${spanText(lifetimeMs, german)} lang: bis ${formatMinute(expiresAt)}.`
}
