import type { Texts } from '../en/en.ts'

export const profile: Texts['profile'] = {
  title: 'Profil',
  account: 'Konto',
  id: 'ID',
  role: 'Rolle',
  email: 'E-Mail',
  created: 'Erstellt',
  verified: 'Bestätigt',
  notVerified: 'Nicht bestätigt',
  name: 'Name',
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
  saveLanguage: 'Sprache speichern',
  secondFactor: 'Zwei-Faktor-Anmeldung',
  secondFactorLead: 'Nach dem Passwort ein Code aus einer App auf Ihrem Telefon.',
  secondFactorOrPasskeyLead:
    'Nach dem Passwort ein Passkey oder ein Code aus einer App auf Ihrem Telefon. Mit einem Passkey können Sie sich auch ohne Passwort anmelden.',
  on: 'Ein',
  off: 'Aus',
  manage: 'Verwalten',
  setUp: 'Einrichten',
  password: 'Passwort',
  passwordLead: 'Eine Änderung meldet alle anderen Browser ab.',
  currentPassword: 'Aktuelles Passwort',
  newPassword: 'Neues Passwort',
  changePassword: 'Passwort ändern',
}
