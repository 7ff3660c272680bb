import { html } from '#platform/pages/html.ts'
import type { Texts } from '../en/en.ts'
import { messages } from './messages.ts'

export const layout: Texts['layout'] = {
  skipToContent: 'Zum Inhalt',
  navigation: 'Portal',
  administration: 'Verwaltung',
  sections: {
    '/integration': 'Anbindung',
    '/usage': 'Nutzung',
    '/sessions': 'Sitzungen',
    '/profile': 'Profil',
    '/accounts': 'Konten',
    '/audit': 'Protokoll',
  },
  signOut: 'Abmelden',
}

export const parts: Texts['parts'] = {
  copy: (what) => `${what} kopieren`,
  save: 'Speichern',
  saveAs: (what) => `${what} speichern`,
  pages: 'Seiten',
  never: 'Nie',
  created: 'Erstellt',
  name: 'Name',
  lastUsed: 'Zuletzt verwendet',
  expires: 'Läuft ab',
  address: 'Adresse',
  newName: 'Neuer Name',
  rename: 'Umbenennen',
  newest: 'Neueste',
  older: 'Ältere',
  password: 'Passwort',
}

export const form: Texts['form'] = {
  yourPassword: 'Ihr Passwort',
  confirmedByPasskey: 'Sie haben sich gerade mit einem Passkey ausgewiesen.',
  confirmed: 'Sie haben gerade bestätigt, dass Sie es sind.',
  orByPasskey: (url) => html`Oder <a href="${url}">bestätigen Sie mit einem Passkey</a>.`,
  firstByPasskey: (url) => html`<a href="${url}">Bestätigen Sie zuerst mit einem Passkey</a>.`,
  orAtProvider: (links) => html`Oder statt des Passworts: ${links}.`,
  firstAtProvider: (links) => html`Bestätigen Sie zuerst, dass Sie es sind: ${links}.`,
  confirmWith: (label) => `mit ${label} bestätigen`,
  or: ' oder ',
}

export const script: Texts['script'] = {
  copy: 'Kopieren',
  copied: 'Kopiert',
  shownForOneMinute: 'Wird eine Minute lang angezeigt.',
  hiddenAgain: 'Wieder ausgeblendet.',
  noResponse: 'Das Gateway antwortet nicht. Versuchen Sie es noch einmal.',
  passkeysElsewhere: 'Passkeys funktionieren nur unter {origin}: Öffnen Sie das Portal dort.',
  noPasskeySupport:
    'Dieser Browser unterstützt keine Passkeys. Aktualisieren Sie ihn, oder wählen Sie einen anderen Weg.',
  passkeyExists: 'Dieses Gerät hat bereits einen Passkey für dieses Konto.',
  noPasskeyUsed:
    'Es wurde kein Passkey verwendet: Der Vorgang wurde abgebrochen, hat zu lange gedauert, oder es gibt hier keinen. Versuchen Sie es noch einmal.',
}

export const notices: Texts['notices'] = {
  'signed-out': 'Sie sind abgemeldet.',
  'signed-out-everywhere': 'Sie sind überall abgemeldet.',
  'session-over': 'Ihre Sitzung ist beendet. Melden Sie sich noch einmal an.',
  welcome: 'Ihr Passwort ist gesetzt, und Sie sind angemeldet.',
  'password-changed': 'Das Passwort wurde geändert. Andere Browser sind abgemeldet.',
  'password-set': 'Ihr Passwort ist gesetzt. Melden Sie sich damit und mit Ihrem Code an.',
  'set-up-link-mailed': 'Ein Einrichtungslink ist auf dem Weg.',
  'second-factor-off': 'Die Zwei-Faktor-Anmeldung ist ausgeschaltet.',
  'app-removed': 'Die Authenticator-App ist entfernt.',
  'passkey-added': 'Der Passkey ist hinzugefügt.',
  'passkey-renamed': 'Der Passkey ist umbenannt.',
  'passkey-removed': 'Der Passkey ist entfernt. Löschen Sie ihn auch auf Ihrem Gerät.',
  'passkey-gone': 'Der Passkey war schon entfernt.',
  'second-factor-reset': 'Der zweite Faktor ist entfernt.',
  'second-factor-none': 'Das Konto hat keinen zweiten Faktor.',
  'name-saved': 'Der Name ist gespeichert.',
  'language-saved': 'Die Sprache ist gespeichert.',
  'link-sent': 'Wir haben einen Link gesendet. Öffnen Sie ihn, um die E-Mail-Adresse zu bestätigen.',
  'email-verified': 'Die E-Mail-Adresse ist bestätigt.',
  'overlap-ended': 'Der alte Geheimschlüssel ist widerrufen.',
  'overlap-over': 'Der alte Geheimschlüssel war schon widerrufen.',
  'key-replaced': 'Dieser Schlüssel war schon ersetzt; er wurde nicht noch einmal zurückgesetzt.',
  'certificate-added': 'Das Zertifikat ist jetzt ein Schlüssel Ihres Kontos.',
  'secret-key-renamed': 'Der Schlüssel ist umbenannt.',
  'secret-key-revoked': 'Der Schlüssel ist widerrufen.',
  'secret-key-ends': 'Der Schlüssel endet zum gewählten Zeitpunkt, wenn er nicht schon früher geendet hätte.',
  'secret-key-gone': 'Der Schlüssel war schon widerrufen.',
  'session-ended': 'Die Sitzung ist beendet.',
  'session-gone': 'Die Sitzung war schon beendet.',
  'sessions-ended': 'Alle Sitzungen sind beendet.',
  'account-saved': 'Das Konto ist gespeichert.',
  'accounts-changed': 'Die Konten sind geändert.',
  'none-ticked': 'Kreuzen Sie zuerst die Konten an, die Sie ändern möchten.',
  'account-verified': 'Die E-Mail-Adresse gilt als bestätigt.',
  'account-unverified': 'Die E-Mail-Adresse gilt als nicht bestätigt.',
  'account-disabled': 'Das Konto ist gesperrt, und seine Sitzungen sind beendet.',
  'account-enabled': 'Das Konto ist entsperrt.',
  'account-taken-over':
    'Das Konto gehört Ihnen. Was vorher da war, ist beendet; setzen Sie die Schlüssel zurück, um neue zu bekommen.',
  'account-unlinked': 'Die Verknüpfung ist gelöst, und die Portalsitzungen des Kontos sind beendet.',
  'subject-blocked': 'Der Benutzer ist blockiert.',
  'subject-was-blocked': 'Der Benutzer war schon blockiert.',
  'subject-unblocked': 'Der Benutzer ist freigegeben.',
  'subject-not-blocked': 'Der Benutzer war nicht blockiert.',
  'events-retried': 'Ausstehende Ereignisse werden innerhalb einer Sekunde noch einmal gesendet.',
  'receiver-new': 'An diesen Empfänger hat noch kein Gateway etwas zugestellt.',
  'receiver-gone': 'Dieser Empfänger steht nicht mehr in der Konfiguration.',
  'account-deleted': 'Das Konto ist gelöscht.',
  'signed-in-again':
    'Sie haben sich in einem anderen Tab neu angemeldet. Es wurde nichts geändert: Senden Sie das Formular noch einmal ab.',
}

export const errors: Texts['errors'] = {
  wrongEmailOrPassword: 'E-Mail-Adresse oder Passwort ist falsch.',
  wrongPassword: 'Das Passwort ist falsch.',
  disabled: 'Dieses Konto ist gesperrt. Wenden Sie sich an die Administration.',
  codeTooLate: 'Der Code kam zu spät. Melden Sie sich noch einmal an.',
  firstConfirm: (providers) =>
    `Bestätigen Sie zuerst mit ${providers}, dass Sie es sind; das gilt dann 5 Minuten lang.`,
  tryAgainIn: (when) => `Versuchen Sie es ${when} noch einmal.`,
  pageNotFound: { title: 'Seite nicht gefunden', detail: 'Diese Seite gibt es nicht.' },
  administratorsOnly: {
    title: 'Nur für die Administration',
    detail: 'Ihr Konto hat nicht die Rolle, die diese Seite verlangt.',
  },
  unavailable: {
    title: 'Vorübergehend nicht verfügbar',
    read: 'Diese Seite ist vorübergehend nicht verfügbar. Kürzlich verwendete Schlüssel funktionieren weiter. Versuchen Sie es gleich noch einmal.',
    nothing:
      'Diese Seite ist vorübergehend nicht verfügbar. Es wurde nichts gespeichert. Kürzlich verwendete Schlüssel funktionieren weiter. Versuchen Sie es gleich noch einmal.',
    unknown:
      'Diese Seite ist vorübergehend nicht verfügbar. Ob Ihre Änderung gespeichert wurde, ist nicht bekannt: Prüfen Sie es, bevor Sie noch einmal absenden. Kürzlich verwendete Schlüssel funktionieren weiter. Versuchen Sie es gleich noch einmal.',
  },
  showInAuditLog: 'Im Protokoll anzeigen',
  backToSignIn: 'Zurück zur Anmeldung',
  tryAgain: 'Noch einmal versuchen',
  continue: 'Weiter',
  messages,
}
