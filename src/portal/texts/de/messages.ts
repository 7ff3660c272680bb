import type { Messages } from '../messages.ts'
import { fieldMessages } from './field-messages.ts'

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
  'This path allows fewer requests; Retry-After says when to try again.': 'Das waren zu viele Anfragen.',
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
