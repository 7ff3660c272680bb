import { html } from '#platform/pages/html.ts'
import type { Texts } from '../en/en.ts'

export const secondFactor: Texts['secondFactor'] = {
  title: 'Zwei-Faktor-Anmeldung',
  required: 'Dieses Gateway verlangt die Zwei-Faktor-Anmeldung: Richten Sie sie ein, um fortzufahren.',
  recoveryCodes: 'Wiederherstellungscodes',
  recoveryCodesLead:
    'Speichern Sie diese Codes jetzt: Sie werden nicht noch einmal angezeigt. Mit jedem können Sie sich einmal ohne App oder Passkey anmelden.',
  isOn: 'Zwei-Faktor-Anmeldung ist eingeschaltet',
  since: 'Seit',
  recoveryCodesLeft: 'Übrige Wiederherstellungscodes',
  countOf: (left, all) => `${left} von ${all}`,
  setUp: {
    title: 'Authenticator-App einrichten',
    lead: 'Beim Anmelden wird dann nach dem Passwort ein Code abgefragt, den die App anzeigt.',
    leadWithCodes:
      'Beim Anmelden wird dann nach dem Passwort ein Code abgefragt, den die App anzeigt. Sie erhalten neue Wiederherstellungscodes, die bisherigen werden ungültig.',
    qrCode: 'QR-Code für die Authenticator-App',
    scan: 'Scannen Sie das Bild mit der App, oder geben Sie dort diesen Schlüssel ein:',
    code: 'Code aus der App',
    submit: 'Einschalten',
  },
  newCodes: {
    title: 'Neue Wiederherstellungscodes',
    lead: 'Die bisherigen Codes werden ungültig.',
    submit: 'Wiederherstellungscodes ersetzen',
  },
  turnOff: {
    title: 'Ausschalten',
    lead: 'Danach genügt zum Anmelden das Passwort.',
    submit: 'Zwei-Faktor-Anmeldung ausschalten',
  },
  removeApp: {
    title: 'App entfernen',
    lead: 'Danach wird beim Anmelden mit dem Passwort ein Passkey oder ein Wiederherstellungscode verlangt.',
    submit: 'Authenticator-App entfernen',
  },
  proof: { recoveryCode: 'Wiederherstellungscode', code: 'Code aus der App oder ein Wiederherstellungscode' },
  signIn: {
    titleWithPasskeys: 'Bestätigen Sie, dass Sie es sind',
    title: 'Code eingeben',
    usePasskey: 'Passkey verwenden',
    code: 'Code',
    codeHint:
      'Die sechs Ziffern, die Ihre Authenticator-App anzeigt, oder einer Ihrer Wiederherstellungscodes.',
    recoveryCodeHint:
      'Einer der Codes, die Sie gespeichert haben, als Sie Ihren ersten Passkey hinzugefügt haben. Jeder funktioniert einmal.',
    submit: 'Anmelden',
    lostPasskeys: (startUrl) =>
      html`Passkeys und Wiederherstellungscodes verloren? Die Administration kann sie zurücksetzen. <a href="${startUrl}">Neu beginnen</a>`,
    lostApp: (startUrl) =>
      html`App und Wiederherstellungscodes verloren? Die Administration kann sie zurücksetzen. <a href="${startUrl}">Neu beginnen</a>`,
  },
  ofAccount: {
    own: (profileUrl) => html`Eingeschaltet: siehe Ihr <a href="${profileUrl}">Profil</a>.`,
    app: 'eine Authenticator-App',
    passkeys: (count) => (count === 1 ? 'ein Passkey' : `${count} Passkeys`),
    isOn: (means) => `Zwei-Faktor-Anmeldung ist eingeschaltet: ${means.join(' und ')}`,
    hint: 'Entfernen Sie alles, wenn die Person sie und die Wiederherstellungscodes verloren hat. Zum Anmelden genügt dann das Passwort.',
    remove: 'Entfernen',
  },
  passkeyFirst: 'Bestätigen Sie zuerst mit einem Passkey; das gilt 5 Minuten lang.',
}
