import { html } from '#platform/pages/html.ts'
import type { Texts } from '../en/en.ts'
import { countIn } from './usage.ts'

export const furtherKeys: Texts['furtherKeys'] = {
  title: 'Weitere Schlüssel',
  lead: 'Ein Schlüssel für jedes Programm, beschränkt auf das, was es braucht. Wird einer widerrufen, gelten die anderen weiter.',
  othersLead: 'Ein Schlüssel für jedes Programm. Wird einer widerrufen, gelten die anderen weiter.',
  none: 'Keine weiteren Schlüssel',
  onlyDefault: 'Der Geheimschlüssel oben ist Ihr einziger.',
  created: (name) =>
    `Der Schlüssel „${name}“ ist erstellt. Kopieren Sie ihn jetzt: Er wird nicht noch einmal angezeigt.`,
  rotated: (name, span) =>
    `Der Schlüssel „${name}“ ist erneuert; der alte gilt ${span === undefined ? 'ab sofort nicht mehr' : `noch ${span}`}. Kopieren Sie den neuen jetzt: Er wird nicht noch einmal angezeigt.`,
  keyName: (name) => `Schlüssel ${name}`,
  expires: (name, when) => html`„${name}“ läuft ${when} ab.`,
  rotateInTime:
    'Erneuern Sie einen Schlüssel, um einen neuen mit gleicher Laufzeit zu erhalten, während der alte noch funktioniert.',
  columns: {
    name: 'Name',
    mayUse: 'Zugriff',
    created: 'Erstellt',
    lastUsed: 'Zuletzt verwendet',
    expires: 'Läuft ab',
  },
  neverUsed: 'Noch nie',
  neverExpires: 'Nie',
  madeElsewhere: 'Anderswo erstellt',
  mayAll: 'Alles, was das Konto darf',
  mayNothing: 'Nichts: Keine Route verlangt nur diese Berechtigungen',
  mayOnly: (routes, more) => html`Nur ${routes}${more > 0 && ` und ${more} weitere`}`,
  scopesOf: (scopes) => `${scopes.length === 1 ? 'Berechtigung' : 'Berechtigungen'} ${scopes.join(', ')}`,
  onlyFrom: (addresses) => `nur von ${addresses}`,
  quotaOf: (count, per, unit) => `${countIn(count, unit)} pro ${per === 'day' ? 'Tag' : 'Monat'}`,
  expired: 'Abgelaufen',
  ends: 'Endet',
  expiresSoon: 'Läuft bald ab',
  ofKey: (name) => ` Schlüssel ${name}`,
  endChoices: { 0: 'Sofort', 3600: 'In einer Stunde', 86400: 'In 24 Stunden', 604800: 'In 7 Tagen' },
  rotateSummary: 'Erneuern…',
  rotateLead: 'Erstellt einen neuen Schlüssel mit demselben Namen, denselben Grenzen und derselben Laufzeit.',
  oldEnds: 'Der alte Schlüssel endet',
  rotate: 'Erneuern',
  renameSummary: 'Umbenennen…',
  newName: 'Neuer Name',
  newNameHint:
    'Der Schlüssel selbst bleibt gleich. Seine bisherige Nutzung wird weiter unter dem alten Namen geführt.',
  rename: 'Umbenennen',
  revokeSummary: 'Widerrufen…',
  revokeLead: 'Programme mit diesem Schlüssel oder seinen Access-Tokens werden von da an abgewiesen.',
  when: 'Wann',
  revoke: 'Widerrufen',
  createSummary: 'Schlüssel erstellen…',
  create: 'Erstellen',
  certificateSummary: 'Zertifikat verwenden…',
  certificate: 'Zertifikat',
  certificateHint:
    'Als PEM ohne den privaten Schlüssel, oder nur sein SHA-256 in hexadezimaler Form. Das Programm, das es benutzt, sendet keine anderen Zugangsdaten.',
  name: 'Name',
  nameHint: 'Buchstaben, Ziffern, . _ und -, zum Beispiel ci oder backup.',
  scopes: 'Berechtigungen (Scopes)',
  scopesHint: 'Was der Schlüssel darf, durch Leerzeichen getrennt; leer = alles, was Sie dürfen.',
  scopeIsFor: (scope, routes) => html` <code>${scope}</code> gilt für ${routes}.`,
  addresses: 'Adressen',
  addressesHint:
    'Woher die Anfragen kommen dürfen, zum Beispiel 203.0.113.7 oder 10.0.0.0/8; leer = von überall.',
  quota: 'Kontingent',
  quotaHint: {
    requests:
      'Anfragen pro Tag oder Monat (UTC), zum Beispiel 1000/day; leer = so viele, wie Sie senden dürfen.',
    units:
      'Einheiten pro Tag oder Monat (UTC), zum Beispiel 1000/day; leer = so viele, wie Sie verbrauchen dürfen.',
  },
  lifetime: 'Läuft ab',
  lifetimes: { 30: 'In 30 Tagen', 90: 'In 90 Tagen', 365: 'In einem Jahr' },
  withCertificate: 'Mit dem Zertifikat',
  chooseLifetime: 'Wählen Sie, wann der Schlüssel abläuft.',
  noCertificates: 'Dieses Gateway akzeptiert keine Zertifikate als Schlüssel (keys.accept).',
}
