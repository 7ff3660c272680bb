import { html } from '#platform/pages/html.ts'
import type { Texts } from '../en/en.ts'

export const links: Texts['links'] = {
  signIn: 'Anmelden',
  token: 'Einrichtungslink',
  tokenHint: 'Der ganze Link oder der Teil nach dem #.',
  forgotten: {
    title: 'Passwort vergessen?',
    emailHint: (lifetime) =>
      `Wir senden einen Link an diese Adresse. Er funktioniert einmal und ist ${lifetime} gültig.`,
    submit: 'Link senden',
    after: 'Ein neues Passwort meldet alle Browser ab. Ihre Schlüssel bleiben, wie sie sind.',
    noMail:
      'Dieses Gateway verschickt keine E-Mails. Bitten Sie die Administration um einen Einrichtungslink, um ein neues Passwort zu wählen.',
    hasLink: (setup, signIn) =>
      html`Sie haben einen Link? <a href="${setup}">Verwenden Sie ihn</a>, oder <a href="${signIn}">melden Sie sich an</a>.`,
  },
  requested: {
    title: 'Sehen Sie in Ihre E-Mails',
    sent: (email, lifetime) =>
      html`Wenn es zu ${email} ein Konto gibt, ist ein Link für ein neues Passwort unterwegs. Er funktioniert einmal und ist ${lifetime} gültig.`,
    noEmail:
      'Keine E-Mail erhalten? Sehen Sie im Spam-Ordner nach, prüfen Sie die Adresse, oder bitten Sie die Administration um einen Einrichtungslink.',
    anotherAddress: 'Andere Adresse',
  },
  password: {
    title: 'Passwort wählen',
    continue: 'Weiter',
    after: (forgot, signIn) =>
      html`Links funktionieren einmal und für begrenzte Zeit. <a href="${forgot}">Neuen Link anfordern</a> oder <a href="${signIn}">anmelden</a>.`,
  },
  setup: {
    lead: 'Damit melden Sie sich von nun an an.',
    password: 'Passwort',
    submit: 'Passwort festlegen',
    expires: (when) => html`Der Link läuft ${when} ab.`,
    after: 'Ein neues Passwort meldet alle anderen Browser ab; Schlüssel bleiben, wie sie sind.',
  },
  newPasswordHint: (charactersMin) =>
    `Mindestens ${charactersMin} Zeichen. Am besten einige Wörter, die Sie sich merken können; gängige Passwörter werden abgelehnt.`,
  again: (label) => `${label} wiederholen`,
  noMatch: 'Die Passwörter stimmen nicht überein.',
  verify: {
    title: 'E-Mail-Adresse bestätigen',
    token: 'Link aus der E-Mail',
    submit: 'E-Mail-Adresse bestätigen',
    after: 'Der Link funktioniert nur, während Sie bei dem Konto angemeldet sind, das ihn angefordert hat.',
    owner: (email, account) => html`Mit diesem Link erhält das Konto ${account} die E-Mail-Adresse ${email}.`,
    signInFirst: (url) =>
      html`<a href="${url}">Melden Sie sich bei diesem Konto an</a>, und öffnen Sie dann den Link in der E-Mail noch einmal.`,
    signOutFirst: (viewer) =>
      html`Sie sind bei ${viewer} angemeldet: Melden Sie sich ab und bei jenem Konto an, und öffnen Sie dann den Link in der E-Mail noch einmal.`,
    notYours: 'Das ist nicht Ihr Konto? Dann brauchen Sie nichts zu tun: Es hat sich nichts geändert.',
  },
  forOwner: {
    title: 'Einrichtungslink',
    hint: 'Damit kann die Person ein Passwort für das Portal festlegen.',
    create: 'Link erstellen',
    byMail: 'Einrichtungslink per E-Mail',
    byMailHint:
      'Damit kann die Person ein Passwort für das Portal festlegen. Er geht an die E-Mail-Adresse des Kontos.',
    mail: 'Link senden',
  },
}
