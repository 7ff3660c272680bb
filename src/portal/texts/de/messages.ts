import type { Messages } from '../en/layout.ts'

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
const fieldMessages: Messages = {
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
  '"{}" can only be reset': (name) => `„${name}“ lässt sich nur zurücksetzen.`,
  '"{}" is the name of the key that a reset creates': (name) =>
    `„${name}“ heißt der Schlüssel, der beim Zurücksetzen entsteht.`,
  'must be 1 to {} letters, digits, . _ or -, starting with a letter or digit': (max) =>
    `1 bis ${max} Buchstaben, Ziffern, . _ oder -, beginnend mit einem Buchstaben oder einer Ziffer.`,
  'must be at most {} different scopes of 1 to {} visible ASCII characters, without double quotes, commas and backslashes':
    (count, max) =>
      `Höchstens ${count} verschiedene Scopes aus 1 bis ${max} sichtbaren ASCII-Zeichen, ohne doppelte Anführungszeichen, Kommas und Backslashes.`,
  'must be at most {} addresses or CIDR ranges, such as 203.0.113.7 or 10.0.0.0/8': (max) =>
    `Höchstens ${max} Adressen oder CIDR-Bereiche wie 203.0.113.7 oder 10.0.0.0/8.`,
  'must be 1 to {} per day or month, such as 1000/day': (max) =>
    `1 bis ${max} pro Tag (day) oder Monat (month), wie 1000/day.`,
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

/** Titles and details of errors. */
const details: Messages = {
  'Invalid request': 'Ungültige Anfrage',
  'The request, or a member of its body, does not match what this endpoint accepts.':
    'Mit diesen Angaben kann die Seite nichts anfangen.',
  'The form body is malformed.': 'Das Formular ist nicht lesbar angekommen.',
  'Credentials are missing': 'Nicht angemeldet',
  'This path requires a secret key or an access token; see WWW-Authenticate.': 'Melden Sie sich an.',
  'Sign in again.': 'Melden Sie sich noch einmal an.',
  'Set up two-factor sign-in first.': 'Richten Sie zuerst die Zwei-Faktor-Anmeldung ein.',
  'The keys are not valid': 'Die Angaben sind falsch',
  'SecretKey and APIKey are not a valid pair of one account. A secret key begins with …_sk_ (or gsk_), an API key with …_ak_ (or gak_).':
    'Die Angaben sind falsch.',
  'E-mail and password do not match.': 'E-Mail-Adresse und Passwort passen nicht zusammen.',
  'The account is disabled': 'Das Konto ist gesperrt',
  'The account is disabled.': 'Das Konto ist gesperrt.',
  'Cross-site request refused': 'Anfrage einer anderen Website abgelehnt',
  'The form is not from this portal, or it is too old: load the page again.':
    'Das Formular stammt nicht von diesem Portal oder ist zu alt. Laden Sie die Seite neu.',
  'The sign-in was refused': 'Die Anmeldung wurde abgelehnt',
  'The sign-in was not completed: start again.':
    'Die Anmeldung wurde nicht abgeschlossen. Beginnen Sie noch einmal.',
  'No such sign-in service.': 'Diesen Anmeldedienst gibt es nicht.',
  'This sign-in was started in another browser, or more than 10 minutes ago: start again.':
    'Diese Anmeldung wurde in einem anderen Browser oder vor mehr als 10 Minuten begonnen. Beginnen Sie noch einmal.',
  'The sign-in service answered “{}”. Start again.': (refusal) =>
    `Der Anmeldedienst hat mit „${refusal}“ geantwortet. Beginnen Sie noch einmal.`,
  'The sign-in service did not ask you to sign in again, or does not say when you did. Try again, or ask an administrator.':
    'Der Anmeldedienst hat Sie nicht noch einmal nach Ihrer Anmeldung gefragt oder sagt nicht, wann Sie sich angemeldet haben. Versuchen Sie es noch einmal, oder wenden Sie sich an die Administration.',
  'Passwords are not accepted here: sign in with {}.': (provider) =>
    `Passwörter werden hier nicht angenommen. Melden Sie sich mit ${provider} an.`,
  '{} did not share your e-mail address. Ask an administrator to share it with this gateway.': (provider) =>
    `${provider} hat Ihre E-Mail-Adresse nicht mitgeteilt. Bitten Sie die Administration, sie für dieses Gateway freizugeben.`,
  '{} has not verified your e-mail address. Verify it there, then sign in again.': (provider) =>
    `Ihre E-Mail-Adresse ist bei ${provider} nicht bestätigt. Bestätigen Sie sie dort, und melden Sie sich dann noch einmal an.`,
  'There is no account with your e-mail address. Ask an administrator for one.':
    'Es gibt kein Konto mit Ihrer E-Mail-Adresse. Wenden Sie sich an die Administration.',
  'You confirmed as somebody else than the person signed in here. Choose the same account at {}.': (
    provider,
  ) =>
    `Sie haben sich als jemand anderes ausgewiesen, als hier angemeldet ist. Wählen Sie bei ${provider} dasselbe Konto.`,
  'The account with your e-mail address belongs to another user of {}. Ask an administrator to unlink it.': (
    provider,
  ) =>
    `Das Konto mit Ihrer E-Mail-Adresse gehört zu einer anderen Person bei ${provider}. Bitten Sie die Administration, die Verknüpfung zu lösen.`,
  'The link is no longer valid': 'Der Link ist nicht mehr gültig',
  'The link has expired, was already used or has been replaced. Ask for another.':
    'Der Link ist abgelaufen, wurde schon benutzt oder durch einen neuen ersetzt. Fordern Sie einen neuen an.',
  'No such account': 'Konto nicht gefunden',
  'There is no account with this ID or e-mail.': 'Es gibt kein Konto mit dieser ID oder E-Mail-Adresse.',
  'The method is not allowed here': 'Die Methode ist hier nicht erlaubt',
  'This path does not support this method; see Allow.': 'Diese Seite nimmt Anfragen dieser Art nicht an.',
  'The account already exists': 'Das Konto gibt es bereits',
  'An account with this e-mail already exists.': 'Es gibt bereits ein Konto mit dieser E-Mail-Adresse.',
  'Not allowed on your own account': 'Beim eigenen Konto nicht erlaubt',
  'An Admin cannot disable, delete or demote their own account, or remove their second factor without a code. Ask another Admin.':
    'Als Admin können Sie Ihr eigenes Konto nicht sperren oder löschen, ihm keine andere Rolle geben und Ihren zweiten Faktor nicht ohne Code entfernen. Bitten Sie einen anderen Admin darum.',
  'Not allowed for the last Admin': 'Beim letzten Admin nicht erlaubt',
  'No enabled Admin would be left. Make another account an Admin first.':
    'Danach gäbe es keinen aktiven Admin mehr. Geben Sie zuerst einem anderen Konto die Rolle Admin.',
  'The body is too large': 'Das Formular ist zu groß',
  'The request body is larger than this path accepts.': 'Das Formular ist größer, als diese Seite annimmt.',
  'The media type is not supported': 'Das Format wird nicht unterstützt',
  'Send Content-Type: application/json, without a Content-Encoding.':
    'Das Formular kam in einem Format an, das diese Seite nicht annimmt.',
  'Send application/x-www-form-urlencoded or multipart/form-data.':
    'Das Formular kam in einem Format an, das diese Seite nicht annimmt.',
  'The header fields are too large': 'Die Kopfzeilen sind zu groß',
  'The request line and header fields are larger than the gateway accepts.':
    'Die Kopfzeilen der Anfrage sind größer, als das Gateway annimmt. Löschen Sie die Cookies dieser Website.',
  'Too many requests': 'Zu viele Anfragen',
  'This path, or the plan of the account, allows fewer requests; Retry-After says when to try again.':
    'Das waren zu viele Anfragen.',
  'The quota is used up': 'Das Kontingent ist aufgebraucht',
  'The quota of the key, or of the plan of its account, is used up; Retry-After says when the next day or month begins.':
    'Das Kontingent des Schlüssels oder des Tarifs ist aufgebraucht.',
  'Too many invalid credentials': 'Zu viele Fehlversuche',
  'Too many invalid credentials were sent from this address; a valid one is still accepted.':
    'Von dieser Adresse kamen zu viele falsche Anmeldedaten.',
  'Too many attempts with this e-mail from this address.':
    'Zu viele Versuche mit dieser E-Mail-Adresse von Ihrer Adresse aus.',
  'Too many consecutive wrong passwords for this e-mail. Sign in from a browser you have used before, or use a set-up link to choose a new password.':
    'Für diese E-Mail-Adresse wurde zu oft nacheinander ein falsches Passwort eingegeben. Melden Sie sich in einem Browser an, den Sie schon benutzt haben, oder wählen Sie mit einem Einrichtungslink ein neues Passwort.',
  'The request took too long to arrive': 'Die Anfrage kam nicht rechtzeitig an',
  'The request did not arrive in time.': 'Die Anfrage kam nicht rechtzeitig an.',
  'Internal error': 'Interner Fehler',
  'Too many sign-ins at once': 'Zu viele Anmeldungen gleichzeitig',
  'Too many passwords are being checked at the moment; try again in a second.':
    'Zurzeit werden zu viele Passwörter geprüft. Versuchen Sie es in einer Sekunde noch einmal.',
  'The sign-in service is not responding': 'Der Anmeldedienst antwortet nicht',
  'The service that you sign in with is not responding: try again in a moment.':
    'Der Dienst, mit dem Sie sich anmelden, antwortet nicht. Versuchen Sie es gleich noch einmal.',
  'Mail cannot be sent': 'Die E-Mail kann nicht gesendet werden',
  'The mail cannot be sent at the moment; an Admin can verify the e-mail.':
    'Die E-Mail kann zurzeit nicht gesendet werden. Ein Admin kann die Adresse bestätigen.',
  'The gateway is shutting down': 'Das Gateway wird beendet',
  'The gateway is shutting down; try again.': 'Das Gateway wird beendet. Versuchen Sie es noch einmal.',
}

export const messages: Messages = { ...details, ...fieldMessages }
