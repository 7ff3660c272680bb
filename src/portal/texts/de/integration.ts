import { html } from '#platform/pages/html.ts'
import type { Texts } from '../en/en.ts'

export const integration: Texts['integration'] = {
  title: 'Anbindung',
  lead: 'Ihre Schlüssel und wie Sie sie verwenden.',
  apiReference: 'API-Referenz',
  codeExamples: 'Codebeispiele',
  codeExamplesLead:
    'Setzen Sie Ihre Schlüssel als Umgebungsvariablen. Zeigen Sie oben beide Schlüssel an, um sie von hier zu kopieren.',
  environment: 'Umgebungsvariablen',
  language: 'Programmiersprache',
  withSecretKey: (language) => `${language} mit dem Geheimschlüssel`,
  withAccessToken: (language) => `${language} mit einem Access-Token`,
}

const eachKey = (noun: string) => ({
  name: noun,
  hideName: `${noun} ausblenden`,
  reveal: `${noun} anzeigen`,
  reset: `${noun} zurücksetzen`,
  resetSummary: `${noun} zurücksetzen…`,
  replaced: (span: string | undefined) =>
    `Neuer ${noun}. Kopieren Sie ihn jetzt; der alte ${span === undefined ? 'ist widerrufen' : `gilt noch ${span}`}.`,
  shownHere: `Wird nur auf dieser Seite angezeigt. Legen Sie den ${noun} dort ab, wo Ihre Programme ihn lesen.`,
  shownOnce: `Kopieren Sie den ${noun} jetzt: Er wird nicht gespeichert und kann nicht noch einmal angezeigt werden.`,
})

export const keys: Texts['keys'] = {
  secretKey: {
    ...eachKey('Geheimschlüssel'),
    title: 'Geheimschlüssel',
    resetLead:
      'Erstellt einen neuen Geheimschlüssel. Wählen Sie, wie lange der alte während der Umstellung noch gilt.',
  },
  secretKeyLead: (places) =>
    html`Senden Sie ihn mit jeder Anfrage ${places}. Bewahren Sie ihn nur auf Servern auf. In den Dokumenten der Schnittstelle heißt er auch „API secret“ oder <code>SecretKey</code>.`,
  carriers: {
    header: (name) => `im Header ${name}`,
    bearer: 'als Authorization: Bearer',
    basic: 'als Passwort von Authorization: Basic',
    certificate: 'als Zertifikat des Clients',
  },
  apiKey: {
    ...eachKey('API-Schlüssel'),
    title: 'API-Schlüssel',
    resetLead:
      'Erstellt einen neuen Schlüssel. Der alte funktioniert ab sofort nicht mehr; Access-Tokens und Sitzungen bleiben gültig.',
  },
  apiKeyLead: 'Tauschen Sie ihn zusammen mit Ihrem Geheimschlüssel gegen Access-Tokens ein.',
  hide: 'Ausblenden',
  reveal: 'Anzeigen',
  created: 'Erstellt',
  lastUsed: 'Zuletzt verwendet',
  never: 'Noch nie',
  address: 'Adresse',
  usedFor: 'Verwendet für',
  apiRequest: 'API-Anfrage',
  accessToken: 'Access-Token',
  keepOld: 'Der alte Geheimschlüssel gilt noch',
  revokeNow: 'Sofort widerrufen',
  revokeNowHint:
    '„Sofort widerrufen“ widerruft auch die Sitzungen und Access-Tokens, die damit erstellt wurden.',
  confirmRevokeNow: 'Sofort widerrufen…',
  stillUsedRefused: 'Clients, die noch den alten Geheimschlüssel verwenden, werden abgewiesen.',
  twoValid: (until) => html`<strong>Zwei Geheimschlüssel sind gültig.</strong> Der alte läuft ${until} ab.`,
  use: (when, address) => `${when} von ${address}`,
  unused: 'Nicht verwendet, kann also widerrufen werden.',
  unusedSince: (use) =>
    `Seit dem Zurücksetzen nicht verwendet, kann also widerrufen werden. Letzte Verwendung davor: ${use}.`,
  inUse: (use) => `Noch in Gebrauch, zuletzt ${use}.`,
  overlapOver: 'Der alte Geheimschlüssel ist abgelaufen: Nur der neue funktioniert noch.',
  notRevealable:
    'Dieser Schlüssel kann nicht angezeigt werden. Setzen Sie ihn zurück, um einen neuen zu erhalten.',
  chooseGrace: 'Wählen Sie, wie lange der alte Geheimschlüssel noch gilt.',
}
