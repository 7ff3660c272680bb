import type { Texts } from '../en/en.ts'

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
