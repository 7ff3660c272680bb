import { html } from '#platform/pages/html.ts'
import type { Texts } from '../en/en.ts'

export const accountPage: Texts['accountPage'] = {
  oneTime: {
    created: 'Konto erstellt',
    saveKeysAndLink:
      'Geben Sie den Link weiter, und speichern Sie diese Schlüssel. Sie werden nicht noch einmal angezeigt.',
    saveKeys: 'Speichern Sie diese Schlüssel. Sie werden nicht noch einmal angezeigt.',
    keyReset: 'Schlüssel zurückgesetzt',
    saveKey: 'Speichern Sie diesen Schlüssel, und geben Sie ihn weiter. Er wird nicht noch einmal angezeigt.',
    linkCreated: 'Einrichtungslink erstellt',
    sendLink: 'Geben Sie ihn weiter. Er wird nicht noch einmal angezeigt.',
    linkMailed: 'Ein Einrichtungslink ist per E-Mail unterwegs.',
    noLink: 'Der Einrichtungslink konnte nicht erstellt werden. Erstellen Sie einen unten unter „Zugang“.',
    linkHint: (expires) =>
      html`Gilt einmal und läuft ${expires} ab. Wer ihn hat, kann das Passwort festlegen.`,
  },
  details: 'Angaben',
  roleChange: 'Eine neue Rolle widerruft die Access-Tokens, die mit der alten ausgestellt wurden.',
  saveDetails: 'Angaben speichern',
  access: 'Zugang',
  setupLink: 'Einrichtungslink',
  noSetupLink:
    'Einrichtungslinks funktionieren bei gesperrten Konten nicht. Entsperren Sie zuerst das Konto.',
  noPassword: 'Kein Passwort',
  signInWith: (labels) => `Die Anmeldung erfolgt mit ${labels}.`,
  ownPassword: 'Ihr Passwort',
  ownPasswordHint: (url) => html`Ändern Sie es in Ihrem <a href="${url}">Profil</a>.`,
  emailVerified: 'Die E-Mail-Adresse ist bestätigt',
  emailNotVerified: 'Die E-Mail-Adresse ist nicht bestätigt',
  verifiedHint: 'Manche Routen verlangen ein bestätigtes Konto.',
  verify: 'Als bestätigt markieren',
  unverify: 'Als nicht bestätigt markieren',
  own: 'Das ist Ihr eigenes Konto',
  ownHint: 'Nur andere Admins können seine Rolle ändern, es sperren oder löschen.',
  isEnabled: 'Das Konto ist aktiv',
  isEnabledHint: 'Beim Sperren enden die Sitzungen, und die Schlüssel werden nicht mehr angenommen.',
  disable: 'Sperren',
  disableConsequence:
    'Die Schlüssel werden nicht mehr angenommen, und die Sitzungen enden. Nach dem Entsperren gelten die Schlüssel wieder, die Sitzungen nicht.',
  isDisabled: 'Das Konto ist gesperrt',
  isDisabledHint: 'Seine Schlüssel werden abgelehnt.',
  enable: 'Entsperren',
  linked: (count) => (count === 1 ? 'Mit einem Anmeldedienst verknüpft' : 'Mit Anmeldediensten verknüpft'),
  linkedHint: (identities) => `${identities}. Wird die Verknüpfung gelöst, enden die Portalsitzungen.`,
  unlink: 'Verknüpfung lösen',
  keys: 'Schlüssel',
  secretKeyCreated: 'Geheimschlüssel erstellt',
  apiKeyCreated: 'API-Schlüssel erstellt',
  lastUse: (at, address) => html`${at} von ${address}`,
  resetApiKeyHint: 'Der alte Schlüssel wird sofort ungültig.',
  delete: 'Löschen',
  deleteLead:
    'Widerruft sofort alle Schlüssel, Tokens und Sitzungen. Das lässt sich nicht rückgängig machen.',
  deleteAccount: 'Konto löschen…',
}
