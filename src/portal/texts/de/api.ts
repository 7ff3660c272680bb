import { html } from '#platform/pages/html.ts'
import type { Texts } from '../en/en.ts'

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
  noScopes: 'Keine',
  unscopedOnly: 'Nur für Schlüssel ohne eigene Berechtigungen',
  noLimit: 'Keine',
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
