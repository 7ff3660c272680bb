import type { Messages } from '../messages.ts'

/** What is wrong with a line of an import file. */
const importLines: Messages = {
  'is not valid UTF-8': 'Das ist kein gültiges UTF-8.',
  'is not valid JSON': 'Das ist kein gültiges JSON.',
  'is not a JSON object': 'Das ist kein JSON-Objekt.',
  'has the member {} more than once': (name) => `${name} steht mehr als einmal darin.`,
  'unclosed quote': 'Ein Anführungszeichen wird nicht geschlossen.',
  'text after a closing quote': 'Nach einem schließenden Anführungszeichen steht noch Text.',
  'more than {} characters in several lines: is a quote not closed?': (max) =>
    `Mehr als ${max} Zeichen in mehreren Zeilen: Fehlt ein schließendes Anführungszeichen?`,
  'the header must name email, and may name {}': (names) =>
    `Die Kopfzeile muss email nennen und darf auch ${names} nennen.`,
  'a column of the header has no name': 'Eine Spalte der Kopfzeile hat keinen Namen.',
  'the header names {} twice': (name) => `Die Kopfzeile nennt ${name} zweimal.`,
  'has {} columns, but the header has {}': (columns, names) =>
    `${columns} Spalten, aber die Kopfzeile hat ${names}.`,
  'unknown field, did you mean "{}"?': (meant) => `Dieses Feld gibt es nicht. Meinten Sie „${meant}“?`,
  'unknown field': 'Dieses Feld gibt es nicht.',
  'must be text': 'Das ist kein Text.',
  '{} is already on line {}': (email, line) => `${email} steht schon in Zeile ${line}.`,
  '{} already has an account': (email) => `${email} hat schon ein Konto.`,
}

/** What is wrong with a field. Where two patterns fit, the first counts. */
export const fieldMessages: Messages = {
  'must be an e-mail address of at most {} characters': (max) =>
    `Geben Sie eine E-Mail-Adresse mit höchstens ${max} Zeichen ein.`,
  'must be at most {} characters, without invalid, invisible or control characters': (max) =>
    `Höchstens ${max} Zeichen, ohne ungültige, unsichtbare oder Steuerzeichen.`,
  'must be 1 to {} letters, digits, _ . or -, starting with a letter': (max) =>
    `1 bis ${max} Buchstaben, Ziffern, _ . oder -, beginnend mit einem Buchstaben.`,
  'unknown plan: the config has no plans': 'Diesen Tarif gibt es nicht: In der Konfiguration steht keiner.',
  'unknown plan: must be one of {}': (plans) => `Diesen Tarif gibt es nicht. Möglich sind: ${plans}.`,
  '{} is taken': (email) => `${email} ist schon vergeben.`,
  'must be a day such as 2026-11-23': 'Geben Sie einen Tag wie 2026-11-23 an.',
  'must have at most {} characters': (max) => `Höchstens ${max} Zeichen.`,
  'must be true or false': 'Möglich sind true und false.',
  'must be one of {}': (values) => `Möglich sind: ${values}.`,
  'must be a whole number from 1 to {}': (max) => `Geben Sie eine ganze Zahl von 1 bis ${max} an.`,
  'must be the nextCursor of a page of the same query':
    'Diese Seite der Liste gibt es nicht. Beginnen Sie wieder am Anfang.',
  'must not be after {}, when the certificate expires': (time) =>
    `Nicht später als ${time}, wenn das Zertifikat abläuft.`,
  'must not be after {}': (day) => `Nicht nach dem ${day}.`,
  'must be at most {} days before {}': (days, day) => `Höchstens ${days} Tage vor dem ${day}.`,
  '"{}" is the name of the key that a reset creates': (name) =>
    `„${name}“ heißt der Schlüssel, der beim Zurücksetzen entsteht.`,
  'must be 1 to {} letters, digits, . _ or -, starting with a letter or digit': (max) =>
    `1 bis ${max} Buchstaben, Ziffern, . _ oder -, beginnend mit einem Buchstaben oder einer Ziffer.`,
  'must be at most {} different scopes of 1 to {} visible ASCII characters, without " , and \\': (
    count,
    max,
  ) => `Höchstens ${count} verschiedene Scopes aus 1 bis ${max} sichtbaren ASCII-Zeichen, ohne " , und \\.`,
  'must be at most {} addresses or CIDR ranges, such as 203.0.113.7 or 10.0.0.0/8': (max) =>
    `Höchstens ${max} Adressen oder CIDR-Bereiche wie 203.0.113.7 oder 10.0.0.0/8.`,
  'must be 1 to {} requests per day or month, such as 1000/day': (max) =>
    `1 bis ${max} Anfragen pro Tag (day) oder Monat (month), wie 1000/day.`,
  'must be in the future, at most ten years ahead': 'In der Zukunft, höchstens in zehn Jahren.',
  'must be a number from 0 to {}': (max) => `Geben Sie eine Zahl von 0 bis ${max} an.`,
  'is a key of this account already': 'Das ist schon ein Schlüssel dieses Kontos.',
  'is a key of another account': 'Das ist ein Schlüssel eines anderen Kontos.',
  '"{}" is the name of another key of this account': (name) =>
    `„${name}“ heißt schon ein anderer Schlüssel dieses Kontos.`,
  'the account has {} secret keys, which is the maximum: revoke one first': (count) =>
    `Das Konto hat mit ${count} Geheimschlüsseln die Höchstzahl erreicht. Widerrufen Sie zuerst einen.`,
  'the account has no secret key called "{}"': (name) =>
    `Das Konto hat keinen Geheimschlüssel namens „${name}“.`,
  'must not contain the private key, which stays with the client':
    'Ohne den privaten Schlüssel: Er bleibt beim Client.',
  'must be a certificate as PEM, which begins with -----BEGIN CERTIFICATE-----, or its SHA-256 in hexadecimal':
    'Fügen Sie ein Zertifikat als PEM ein, das mit -----BEGIN CERTIFICATE----- beginnt, oder seinen SHA-256 in Hexadezimalziffern.',
  'cannot be read as an X.509 certificate': 'Das ist kein lesbares X.509-Zertifikat.',
  'expired on {}': (time) => `Abgelaufen am ${time}.`,
  'the config has no issuers': 'In der Konfiguration steht kein Aussteller.',
  'must be the name of an issuer in the config: {}, did you mean "{}"?': (names, meant) =>
    `Geben Sie den Namen eines Ausstellers aus der Konfiguration an: ${names}. Meinten Sie „${meant}“?`,
  'must be the name of an issuer in the config: {}': (names) =>
    `Geben Sie den Namen eines Ausstellers aus der Konfiguration an: ${names}.`,
  'must be 1 to {} characters, without control characters, as in the tokens of the issuer': (max) =>
    `1 bis ${max} Zeichen, ohne Steuerzeichen, wie in den Tokens des Ausstellers.`,
  'must have at most {} bytes in UTF-8': (max) => `Höchstens ${max} Bytes in UTF-8.`,
  'must have at least {} characters': (min) => `Mindestens ${min} Zeichen.`,
  'is too common. Avoid common words with digits, keyboard rows and repetitions.':
    'Dieses Passwort ist zu verbreitet. Vermeiden Sie gängige Wörter mit Ziffern, Tastaturreihen und Wiederholungen.',
  'must not consist mostly of your e-mail or name':
    'Das Passwort darf nicht größtenteils aus Ihrer E-Mail-Adresse oder Ihrem Namen bestehen.',
  'The code is wrong, too old, or was used before.': 'Der Code ist falsch, zu alt oder wurde schon benutzt.',
  'The code is wrong or too old. Check the clock of your phone.':
    'Der Code ist falsch oder zu alt. Prüfen Sie die Uhr Ihres Telefons.',
  'An app is already set up.': 'Es ist bereits eine App eingerichtet.',
  'The passkey was not accepted. It may have been removed here, or the attempt took too long: try again.':
    'Der Passkey wurde nicht angenommen. Er wurde hier vielleicht entfernt, oder es hat zu lange gedauert. Versuchen Sie es noch einmal.',
  'This passkey is set up already.': 'Dieser Passkey ist bereits eingerichtet.',
  'An account has at most {} passkeys: remove one first.': (max) =>
    `Ein Konto hat höchstens ${max} Passkeys. Entfernen Sie zuerst einen.`,
  'must be 1 to {} characters, without invisible or control characters': (max) =>
    `1 bis ${max} Zeichen, ohne unsichtbare oder Steuerzeichen.`,
  ...importLines,
}
