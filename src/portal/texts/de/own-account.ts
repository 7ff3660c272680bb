import type { Texts } from '../en/en.ts'

export const profile: Texts['profile'] = {
  id: 'ID',
  verified: 'Bestätigt',
  notVerified: 'Nicht bestätigt',
  saveName: 'Namen speichern',
  firstName: 'Vorname',
  lastName: 'Nachname',
  emailHint:
    'Wir senden einen Link an diese Adresse. Die Änderung wird wirksam, sobald der Link geöffnet wird.',
  changeEmail: 'E-Mail ändern',
  sendLink: 'Link senden',
  noMail:
    'Es ist kein Mailserver konfiguriert: E-Mail-Adressen werden von der Administration geändert und bestätigt.',
  language: 'Sprache',
  languageLead: 'Sprache des Portals und der E-Mails, die Sie erhalten.',
  browserLanguage: 'Wie im Browser eingestellt',
  chooseLanguage: 'Wählen Sie eine Sprache.',
  saveLanguage: 'Sprache speichern',
  secondFactorLead: 'Nach dem Passwort ein Code aus einer App auf Ihrem Telefon.',
  secondFactorOrPasskeyLead:
    'Nach dem Passwort ein Passkey oder ein Code aus einer App auf Ihrem Telefon. Mit einem Passkey können Sie sich auch ohne Passwort anmelden.',
  on: 'Ein',
  off: 'Aus',
  manage: 'Verwalten',
  setUp: 'Einrichten',
  passwordLead: 'Eine Änderung meldet alle anderen Browser ab.',
  currentPassword: 'Aktuelles Passwort',
  wrongPassword: 'Das aktuelle Passwort ist falsch.',
  newPassword: 'Neues Passwort',
  changePassword: 'Passwort ändern',
}

export const sessions: Texts['sessions'] = {
  lead: 'Alles, was bei Ihrem Konto angemeldet ist. Beenden Sie jede Sitzung, die Sie nicht kennen.',
  tokens: {
    title: 'Token-Sitzungen',
    lead: 'Mit beiden Schlüsseln begonnen, durch Refresh-Tokens verlängert. Wird eine beendet, werden ihre Access-Tokens sofort ungültig.',
    none: 'Keine aktiven Token-Sitzungen',
    noMore: 'Keine weiteren Token-Sitzungen',
    noneText: 'Sitzungen erscheinen hier, sobald ein Client ein Access-Token erhält.',
    endAllClients: 'Jeder Client muss mit beiden Schlüsseln ein neues Access-Token holen.',
    endAllClientsAndBrowsers:
      'Jeder Client muss mit beiden Schlüsseln ein neues Access-Token holen. Browser müssen sich neu anmelden.',
    pages: 'Seiten der Sitzungen',
    lastRefresh: 'Zuletzt erneuert',
  },
  portal: {
    title: 'Portalsitzungen',
    lead: 'Browser, die beim Portal angemeldet sind.',
    none: 'Keine aktiven Portalsitzungen',
    noneText: 'Kein Browser ist angemeldet.',
    signOutEverywhere: 'Überall abmelden',
    endAllOwn: 'Jeder Browser, auch dieser, muss sich neu anmelden. Token-Sitzungen sind nicht betroffen.',
    endAll: 'Jeder Browser muss sich neu anmelden. Token-Sitzungen sind nicht betroffen.',
    lastSeen: 'Zuletzt gesehen',
    thisBrowser: 'Dieser Browser',
  },
  endAll: 'Alle beenden',
  end: 'Beenden',
  ofSession: (id) => `Sitzung ${id}`,
  client: 'Client',
  started: 'Begonnen',
  unknown: 'Unbekannt',
  unknownClient: 'Unbekannter Client',
  browserOn: (browser, system) => `${browser} unter ${system}`,
}
