import { html } from '#platform/pages/html.ts'
import type { Texts } from '../en/en.ts'

export const integration: Texts['integration'] = {
  lead: 'Ihre Schlüssel und wie Sie sie verwenden.',
  codeExamples: 'Codebeispiele',
  codeExamplesLead:
    'Setzen Sie Ihre Schlüssel als Umgebungsvariablen. Zeigen Sie oben beide Schlüssel an, um sie von hier zu kopieren.',
  environment: 'Umgebungsvariablen',
  language: 'Programmiersprache',
  withSecretKey: (language) => `${language} mit dem Geheimschlüssel`,
  withAccessToken: (language) => `${language} mit einem Access-Token`,
}

const credentials = {
  none: 'ohne Zugangsdaten',
  accessToken: 'mit einem Access-Token',
  secretKey: 'mit dem Geheimschlüssel',
}

export const tryIt: Texts['tryIt'] = {
  title: 'Ausprobieren',
  lead: 'Ruft das Gateway mit Ihren Schlüsseln auf und zeigt, welche Identität beim Backend ankommt.',
  noRoutes: 'Ihr Konto kann keine Route aufrufen.',
  route: 'Route',
  send: 'Anfrage senden',
  sending: 'Wird gesendet…',
  more: 'Methode, Pfad und Inhalt',
  method: 'Methode',
  asAbove: 'Wie oben',
  rest: 'Rest des Pfads',
  restHint: 'Zum Beispiel /42?limit=10.',
  body: 'Inhalt',
  bodyHint: 'JSON; ein GET hat keinen.',
  sent: (request, credential, durationMs) => `${request} · ${credentials[credential]} · ${durationMs} ms`,
  noBody: 'Die Antwort hat keinen Inhalt.',
  response: (contentType, isTruncated) => `Antwort, ${contentType}${isTruncated ? ' (gekürzt)' : ''}`,
  noEcho: 'Das Backend gibt die Header der Anfrage nicht zurück; dies ist seine Antwort.',
  noneEchoed: 'Die zurückgegebenen Header enthalten keine Identität.',
  noneSent: 'Es wurde keine Identität gesendet, denn die Route hat auth: none.',
  received: 'Beim Backend angekommen',
  badPath: (path) => `Beginnen Sie den Pfad unterhalb von ${path} mit / oder ?, wie er in einer URL steht.`,
  keysNotStored:
    'Ihre Schlüssel sind nicht gespeichert, deshalb kann das Portal sie nicht verwenden. Nutzen Sie die Codebeispiele oben.',
  late: (seconds) =>
    `Keine Antwort innerhalb von ${seconds} Sekunden. Nutzen Sie für langsamere Routen die Codebeispiele oben.`,
  unreachable: 'Das Portal konnte keine Verbindung zum Listener des Gateways herstellen.',
  placeholders: {
    secretKey: '[Ihr Geheimschlüssel]',
    apiKey: '[Ihr API-Schlüssel]',
    accessToken: '[Ihr Access-Token]',
  },
}

const places: Readonly<Record<string, string>> = {
  path: 'im Pfad',
  query: 'in der Query',
  header: 'im Header',
  cookie: 'im Cookie',
}

export const api: Texts['api'] = {
  title: 'API-Referenz',
  lead: 'Was Sie mit Ihren Schlüsseln aufrufen können. Die Endpunkte des Gateways sind auf Englisch beschrieben.',
  unreadable: 'Die Beschreibung der Endpunkte kann gerade nicht gelesen werden. Laden Sie die Seite neu.',
  routes: 'Routen',
  routesLead: (tryUrl) =>
    html`Alle Pfade darunter gehören dazu. <a href="${tryUrl}">Probieren Sie sie aus</a>.`,
  noRoutes: 'Keine Routen',
  noRoutesText: 'Ihr Konto kann keine Route dieses Gateways aufrufen. Wenden Sie sich an die Administration.',
  columns: {
    route: 'Route',
    request: 'Anfrage',
    credential: 'Zugangsdaten',
    scopes: 'Berechtigungen',
    limit: 'Begrenzung',
  },
  credentials: {
    secretKey: 'Geheimschlüssel',
    bearer: 'Access-Token',
    any: 'Geheimschlüssel oder Access-Token',
    optional: 'Geheimschlüssel, Access-Token oder keine',
    none: 'Keine',
    deny: 'Keine werden akzeptiert',
  },
  anyMethod: 'Jede Methode',
  unscopedOnly: 'Nur für Schlüssel ohne eigene Berechtigungen',
  none: 'Keine',
  limitBy: {
    account: (limit) => `${limit} für Ihr Konto`,
    key: (limit) => `${limit} je Schlüssel`,
    ip: (limit) => `${limit} je Adresse`,
  },
  clientLibrary: 'Client-Bibliothek',
  clientLead: 'Holt mit beiden Schlüsseln Access-Tokens, bewahrt sie auf und erneuert sie.',
  clientLeadWithSecretKey:
    'Holt mit beiden Schlüsseln Access-Tokens, bewahrt sie auf und erneuert sie. Hat sie nur den Geheimschlüssel, sendet sie diesen.',
  isForAnyone: 'Ohne Zugangsdaten',
  isForKeys: 'Ihr Schlüssel oder Access-Token',
  parameters: 'Parameter',
  parameter: (place, isRequired) => `${places[place] ?? place}${isRequired ? ', erforderlich' : ''}`,
  body: (type) => `Inhalt der Anfrage, ${type}`,
  bodyType: 'Inhalt der Anfrage: ',
  responses: 'Antworten',
}
