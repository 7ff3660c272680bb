import { german } from '#platform/languages.ts'
import { formatCount } from '#platform/pages/format.ts'
import { html } from '#platform/pages/html.ts'
import type { Texts } from '../en/en.ts'

export const accounts: Texts['accounts'] = {
  account: 'Konto',
  email: 'E-Mail',
  role: 'Rolle',
  plan: 'Tarif',
  state: 'Status',
  keys: 'Schlüssel',
  disabled: 'Gesperrt',
  you: 'Sie',
  cancel: 'Abbrechen',
  firstPage: 'Erste Seite',
  nextPage: 'Nächste Seite',
  roleHint: (roles) => `Groß- und Kleinschreibung zählt. Bekannte Rollen: ${roles}.`,
  wrongCase: (similar) => `Meinten Sie ${similar}? Bei Rollen zählt Groß- und Kleinschreibung.`,
  planHint: 'Wie viel das Konto nutzen darf.',
  noPlan: 'Keiner (unbegrenzt)',
  unknownPlan: (name) => `${name} (nicht in der Konfiguration, daher unbegrenzt)`,
  choosePlan: 'Wählen Sie einen Tarif.',
  new: {
    title: 'Neues Konto',
    lead: 'Das Konto bekommt Schlüssel. Die nächste Seite zeigt sie.',
    leadWithLink:
      'Das Konto bekommt Schlüssel. Die nächste Seite zeigt sie und einen Einrichtungslink zum Weitergeben.',
    isVerified: 'E-Mail-Adresse als bestätigt markieren',
    mailsLink: 'Einrichtungslink an diese Adresse senden',
    submit: 'Konto erstellen',
  },
  delete: {
    title: 'Dieses Konto löschen?',
    lead: (email) =>
      html`<strong>${email}</strong> verliert sofort alle Schlüssel, Tokens und Sitzungen. Das lässt sich nicht rückgängig machen.`,
    confirmation: 'Geben Sie zur Bestätigung die E-Mail-Adresse des Kontos ein',
    differs: 'Das ist nicht die E-Mail-Adresse des Kontos.',
    submit: 'Konto löschen',
  },
}

export const accountList: Texts['accountList'] = {
  all: (count) => `${accountCount(count)}.`,
  found: (shown, count) => `${shown} von ${accountCount(count)}.`,
  foundMore: (count) => `Treffer unter ${accountCount(count)}.`,
  import: 'Import',
  continueSearch: 'Weitersuchen',
  search: 'Konten suchen',
  searchHint: 'E-Mail oder Name (auch Teile), ID',
  anyRole: 'Jede Rolle',
  anyPlan: 'Jeder Tarif',
  noPlan: 'Kein Tarif',
  anyState: 'Jeder Status',
  enabled: 'Aktiv',
  lastActive: 'Zuletzt aktiv',
  anyActivity: 'Jede Aktivität',
  activities: {
    '7': 'Letzte 7 Tage aktiv',
    '30': 'Letzte 30 Tage aktiv',
    'not-30': 'Seit 30 Tagen inaktiv',
    'not-90': 'Seit 90 Tagen inaktiv',
    'not-365': 'Seit einem Jahr inaktiv',
  },
  order: 'Reihenfolge',
  newestFirst: 'Neueste zuerst',
  bestFirst: 'Beste Treffer zuerst',
  oldestFirst: 'Älteste zuerst',
  byEmail: 'Nach E-Mail',
  submit: 'Suchen',
  clear: 'Leeren',
  ticked: 'Ausgewählt',
  tick: (email) => `${email} auswählen`,
  tickAll: 'Alle auf dieser Seite',
  withTicked: 'Ausgewählte Konten',
  continue: 'Weiter…',
  today: 'Heute',
  yesterday: 'Gestern',
  none: { title: 'Noch keine Konten', text: 'Erstellen Sie eines, oder importieren Sie eine Datei.' },
  noneYet: {
    title: 'Noch keine Treffer',
    text: 'Es gibt zu viele Konten, um alle auf einmal zu durchsuchen. Suchen Sie dort weiter, wo diese Seite endet.',
  },
  noMatches: {
    title: 'Keine Treffer',
    text: (url) => html`Auf kein Konto trifft all das zu. <a href="${url}">Alle Konten anzeigen</a>`,
  },
}

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
  noSetupLink:
    'Einrichtungslinks funktionieren bei gesperrten Konten nicht. Entsperren Sie zuerst das Konto.',
  noPassword: 'Kein Passwort',
  signInWith: (labels) => `Die Anmeldung erfolgt mit ${labels}.`,
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
  secretKeyCreated: 'Geheimschlüssel erstellt',
  apiKeyCreated: 'API-Schlüssel erstellt',
  lastUse: (at, address) => html`${at} von ${address}`,
  resetApiKeyHint: 'Der alte Schlüssel wird sofort ungültig.',
  delete: 'Löschen',
  deleteLead:
    'Widerruft sofort alle Schlüssel, Tokens und Sitzungen. Das lässt sich nicht rückgängig machen.',
  deleteAccount: 'Konto löschen…',
}

export const accountImport: Texts['accountImport'] = {
  title: 'Konten importieren',
  lead: (max) =>
    html`CSV mit Kopfzeile oder JSON Lines: bis zu ${formatCount(max, german)} Konten, entweder alle oder keines. Für größere Dateien gibt es <code>gatehouse accounts import</code>.`,
  file: 'Datei',
  text: 'Oder hier einfügen',
  textHint: (fields) => `Felder: ${fields}; nur email ist erforderlich.`,
  mailsLink: 'Jedem Konto einen Einrichtungslink per E-Mail senden',
  submit: 'Importieren',
  nothing: 'Wählen Sie eine Datei, oder fügen Sie ihren Inhalt ein.',
  tooMany: (max, command) =>
    `Das Portal importiert höchstens ${formatCount(max, german)} Konten auf einmal. Teilen Sie die Datei auf, oder verwenden Sie gatehouse accounts import DATEI (bis zu ${formatCount(command, german)}).`,
  created: (count, url) => html`${accountCount(count)} erstellt. <a href="${url}">Konten anzeigen</a>`,
  createdAndMailed: (count, url) =>
    html`${accountCount(count)} erstellt; die Einrichtungslinks sind unterwegs. <a href="${url}">Konten anzeigen</a>`,
  keysLead:
    'Speichern Sie diese Schlüssel, bevor Sie die Seite verlassen. Sie werden nicht noch einmal angezeigt.',
  keysFile: 'CSV-Datei',
  badLines: (count) =>
    `${formatCount(count, german)} ${count === 1 ? 'Zeile kann' : 'Zeilen können'} nicht importiert werden`,
  badLinesLead:
    'Es wurde nichts importiert. Korrigieren Sie diese Zeilen, und importieren Sie die Datei erneut.',
  line: 'Zeile',
  problem: 'Fehler',
  moreBadLines: (count) =>
    count === 1 ? 'Und 1 weitere Zeile.' : `Und ${formatCount(count, german)} weitere Zeilen.`,
  repeated: 'Alle diese Konten gibt es bereits',
  repeatedLead:
    'Möglicherweise wurde die Datei zweimal importiert. Falls die Schlüssel nicht gespeichert wurden, setzen Sie sie bei jedem Konto zurück.',
}

export const severalAccounts: Texts['severalAccounts'] = {
  disable: {
    action: 'Sperren',
    title: (count) => `${accountCount(count)} sperren?`,
    lead: 'Die Schlüssel werden nicht mehr angenommen, und die Sitzungen enden. Nach dem Entsperren gelten die Schlüssel wieder, die Sitzungen nicht.',
  },
  enable: {
    action: 'Entsperren',
    title: (count) => `${accountCount(count)} entsperren?`,
    lead: 'Die Schlüssel gelten wieder.',
  },
  role: {
    action: 'Rolle ändern',
    title: (count) => `Rolle von ${accountCount(count)} ändern?`,
    lead: 'Access-Tokens, die mit der alten Rolle ausgestellt wurden, werden widerrufen.',
  },
  plan: {
    action: 'Tarif ändern',
    title: (count) => `Tarif von ${accountCount(count)} ändern?`,
    lead: 'Der neue Tarif gilt ab der nächsten Anfrage.',
  },
  outcome: {
    title: (changed, count) => `${changed} von ${accountCount(count)} geändert`,
    refused: (count) => `${accountCount(count)} ${count === 1 ? 'konnte' : 'konnten'} nicht geändert werden.`,
    table: 'Nicht geänderte Konten',
    why: 'Grund',
  },
}

/** The nominative and the dative are the same. */
function accountCount(count: number): string {
  return `${formatCount(count, german)} ${count === 1 ? 'Konto' : 'Konten'}`
}
