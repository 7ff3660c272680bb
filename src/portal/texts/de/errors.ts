import type { Texts } from '../en/en.ts'
import { messages } from './messages.ts'

export const errors: Texts['errors'] = {
  wrongEmailOrPassword: 'E-Mail-Adresse oder Passwort ist falsch.',
  wrongPassword: 'Das Passwort ist falsch.',
  disabled: 'Dieses Konto ist gesperrt. Wenden Sie sich an die Administration.',
  codeTooLate: 'Der Code kam zu spät. Melden Sie sich noch einmal an.',
  firstConfirm: (providers) =>
    `Bestätigen Sie zuerst mit ${providers}, dass Sie es sind; das gilt dann 5 Minuten lang.`,
  tryAgainIn: (when) => `Versuchen Sie es ${when} noch einmal.`,
  pageNotFound: { title: 'Seite nicht gefunden', detail: 'Diese Seite gibt es nicht.' },
  administratorsOnly: {
    title: 'Nur für die Administration',
    detail: 'Ihr Konto hat nicht die Rolle, die diese Seite verlangt.',
  },
  unavailable: {
    title: 'Vorübergehend nicht verfügbar',
    read: 'Diese Seite ist vorübergehend nicht verfügbar. Kürzlich verwendete Schlüssel funktionieren weiter. Versuchen Sie es gleich noch einmal.',
    nothing:
      'Diese Seite ist vorübergehend nicht verfügbar. Es wurde nichts gespeichert. Kürzlich verwendete Schlüssel funktionieren weiter. Versuchen Sie es gleich noch einmal.',
    unknown:
      'Diese Seite ist vorübergehend nicht verfügbar. Ob Ihre Änderung gespeichert wurde, ist nicht bekannt: Prüfen Sie es, bevor Sie noch einmal absenden. Kürzlich verwendete Schlüssel funktionieren weiter. Versuchen Sie es gleich noch einmal.',
  },
  showInAuditLog: 'Im Protokoll anzeigen',
  backToSignIn: 'Zurück zur Anmeldung',
  tryAgain: 'Noch einmal versuchen',
  continue: 'Weiter',
  messages,
}
