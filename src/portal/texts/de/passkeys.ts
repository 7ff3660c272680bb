import type { Texts } from '../en/en.ts'

export const passkeys: Texts['passkeys'] = {
  title: 'Passkeys',
  lead: 'Ein Passkey ist Ihr zweiter Faktor. Prüft er, dass Sie es sind, meldet er Sie auch ohne Passwort an.',
  none: 'Keine Passkeys',
  noneText:
    'Fügen Sie einen hinzu, um sich mit Fingerabdruck, Gesicht, PIN oder einem Sicherheitsschlüssel anzumelden.',
  needScript: 'Passkeys brauchen JavaScript.',
  needBrowser: 'Passkeys brauchen JavaScript und einen Browser, der sie unterstützt.',
  name: 'Name',
  added: 'Hinzugefügt',
  lastUsed: 'Zuletzt verwendet',
  never: 'Nie',
  ofPasskey: (name) => `Passkey ${name}`,
  rename: 'Umbenennen',
  newName: 'Neuer Name',
  remove: 'Entfernen',
  removeHint: 'Er meldet Sie danach nicht mehr an. Löschen Sie ihn auch auf Ihrem Gerät.',
  removeLastHint:
    'Er meldet Sie danach nicht mehr an. Löschen Sie ihn auch auf Ihrem Gerät. Er ist Ihr letzter zweiter Faktor: Danach genügt zum Anmelden das Passwort.',
  lastFactor:
    'Dieses Gateway verlangt die Zwei-Faktor-Anmeldung, und dies ist Ihr letzter Passkey: Fügen Sie zuerst einen anderen oder eine Authenticator-App hinzu.',
  tooMany: (count) =>
    `Sie haben ${count} Passkeys, mehr sind nicht möglich: Entfernen Sie einen, um einen anderen hinzuzufügen.`,
  add: 'Passkey hinzufügen',
  addSummary: 'Passkey hinzufügen…',
  nameHint: 'Um ihn von anderen zu unterscheiden, etwa das Gerät, das ihn verwahrt.',
  nameFor: (number) => `Passkey ${number}`,
  passwordFirst: 'Legen Sie zuerst ein Passwort fest.',
  confirm: {
    title: 'Bestätigen Sie, dass Sie es sind',
    use: 'Passkey verwenden',
    lead: 'Danach werden Sie 5 Minuten lang nicht nach Passwort oder Code gefragt.',
    submit: 'Mit einem Passkey bestätigen',
  },
}
