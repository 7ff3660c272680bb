import { html } from '#platform/pages/html.ts'
import type { Texts } from '../en/en.ts'

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
