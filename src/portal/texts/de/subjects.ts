import { html } from '#platform/pages/html.ts'
import type { Texts } from '../en/en.ts'

export const subjects: Texts['subjects'] = {
  title: 'Blockierte Benutzer',
  lead: 'Benutzer anderer Aussteller, deren Tokens auf jeder Route abgelehnt werden.',
  block: 'Benutzer blockieren',
  issuer: 'Aussteller',
  issuerHint: (names) => `Name in der Konfiguration: ${names}.`,
  noIssuerHint: 'Name in der Konfiguration.',
  subject: 'Kennung (sub)',
  subjectHint:
    'Der Claim sub der Tokens. Protokolle und Header zeigen ihn mit Prozentkodierung nach dem Namen des Ausstellers.',
  consequence:
    'Alle Tokens dieses Benutzers werden abgelehnt, auch künftige, und offene WebSockets werden geschlossen.',
  submit: 'Blockieren',
  user: 'Benutzer',
  blocked: 'Blockiert',
  action: 'Aktion',
  unblock: (subject, issuer) =>
    html`Freigeben<span class="visually-hidden">: ${subject} von ${issuer}</span>`,
  nobody: {
    title: 'Niemand ist blockiert',
    text: 'Benutzer anderer Aussteller haben hier kein Konto. Wenn Sie einen blockieren, werden seine Tokens abgelehnt, noch bevor der Aussteller sie sperrt.',
  },
}
