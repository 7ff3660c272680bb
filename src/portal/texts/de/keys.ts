import type { QuotaUnit } from '#identity/limits/plans.ts'
import { html } from '#platform/pages/html.ts'
import type { Texts } from '../en/en.ts'

const eachKey = (noun: string) => ({
  name: noun,
  hideName: `${noun} ausblenden`,
  reveal: `${noun} anzeigen`,
  reset: `${noun} zurücksetzen`,
  resetSummary: `${noun} zurücksetzen…`,
  none: `Es gibt keinen ${noun}: Er wurde widerrufen.`,
  create: `Neuen ${noun} erstellen`,
  createSummary: `Neuen ${noun} erstellen…`,
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
  never: 'Noch nie',
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
  stillValid: (until) =>
    html`<strong>Der widerrufene Geheimschlüssel gilt noch.</strong> Er läuft ${until} ab, oder sobald es einen neuen gibt.`,
  use: (when, address) => `${when} von ${address}`,
  unused: 'Nicht verwendet, kann also widerrufen werden.',
  unusedSince: (use) =>
    `Seit dem Zurücksetzen nicht verwendet, kann also widerrufen werden. Letzte Verwendung davor: ${use}.`,
  inUse: (use) => `Noch in Gebrauch, zuletzt ${use}.`,
  overlapOver: 'Der alte Geheimschlüssel ist abgelaufen: Nur der neue funktioniert noch.',
  revokedOver: 'Er ist abgelaufen.',
  notRevealable:
    'Dieser Schlüssel kann nicht angezeigt werden. Setzen Sie ihn zurück, um einen neuen zu erhalten.',
  chooseGrace: 'Wählen Sie, wie lange der alte Geheimschlüssel noch gilt.',
}

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
  mayUse: 'Zugriff',
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
  newNameHint:
    'Der Schlüssel selbst bleibt gleich. Seine bisherige Nutzung wird weiter unter dem alten Namen geführt.',
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
  lifetimes: { 30: 'In 30 Tagen', 90: 'In 90 Tagen', 365: 'In einem Jahr' },
  withCertificate: 'Mit dem Zertifikat',
  chooseLifetime: 'Wählen Sie, wann der Schlüssel abläuft.',
  noCertificates: 'Dieses Gateway akzeptiert keine Zertifikate als Schlüssel (keys.accept).',
}

const counted = {
  requests: { one: 'Anfrage', many: 'Anfragen' },
  units: { one: 'Einheit', many: 'Einheiten' },
} as const

export const usage: Texts['usage'] = {
  ownLead: 'Anfragen, die für Ihr Konto weitergeleitet wurden, pro UTC-Tag.',
  lead: (name) => `Anfragen, die für ${name} weitergeleitet wurden, pro UTC-Tag.`,
  plan: (name) => `Tarif: ${name}`,
  unknownPlan: 'Diesen Tarif gibt es nicht mehr; das Konto ist daher nicht begrenzt.',
  perUnit: (requests, unit) => `${countIn(requests, 'requests')} pro ${unit}`,
  perSpan: (requests, span) => `${countIn(requests, 'requests')} alle ${span}`,
  burst: (limit, requests) => `${limit}, höchstens ${requests} auf einmal.`,
  keyQuotas: 'Kontingente von Schlüsseln',
  usedToday: (used, limit, unit) => `Heute (UTC) ${used} von ${limit} ${counted[unit].many} verbraucht`,
  usedThisMonth: (used, limit, unit) =>
    `In diesem Monat (UTC) ${used} von ${limit} ${counted[unit].many} verbraucht`,
  resetsOnDay: (at) => html`Beginnt ${at} neu (0:00 UTC).`,
  resetsInMonth: (at, day) => html`Beginnt ${at} neu (${day}, 0:00 UTC).`,
  usedUp: 'Aufgebraucht',
  nearlyUsedUp: 'Fast aufgebraucht',
  from: 'Von',
  to: 'Bis',
  show: 'Anzeigen',
  days: 'Tage',
  none: 'Keine Anfragen an diesen Tagen',
  noneHint: 'Anfragen erscheinen hier innerhalb weniger Sekunden.',
  sum: (requests, from, to, most) =>
    `${requests} Anfragen vom ${from} bis zum ${to}, höchstens ${most} am Tag.`,
  sums: 'Schlüssel und Routen',
  sumsLead: 'Eine Einheit sind die Kosten, die ein Backend meldet; ohne Angabe 1.',
  columns: { key: 'Schlüssel', route: 'Route', requests: 'Anfragen', units: 'Einheiten' },
  unknownKey: 'unbekannt',
}

/** Such as `1 Anfrage`, `3 Einheiten`. @param count as it is shown */
function countIn(count: string, unit: QuotaUnit): string {
  const { one, many } = counted[unit]
  return `${count} ${count === '1' ? one : many}`
}
