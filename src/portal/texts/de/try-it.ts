import type { Texts } from '../en/en.ts'

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
