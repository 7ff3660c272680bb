import { html } from '#platform/pages/html.ts'
import type { Texts } from '../en/en.ts'

export const signIn: Texts['signIn'] = {
  title: 'Anmelden',
  lead: 'Verwalten Sie Ihre Schlüssel und Sitzungen.',
  submit: 'Anmelden',
  withPasskey: 'Mit einem Passkey anmelden',
  withProvider: (label) => `Mit ${label} anmelden`,
  otherWays: (forgot, setup) =>
    html`<a href="${forgot}">Passwort vergessen?</a> Zum ersten Mal hier? <a href="${setup}">Einrichtungslink verwenden</a>.`,
  back: 'Zurück zum Portal',
  requestId: 'Anfrage-ID',
  takeOver: {
    title: 'Ist das Ihr Konto?',
    usedBefore: (email, label) =>
      html`Das Konto ${email} wurde bereits ohne ${label} benutzt: von Ihnen oder von jemandem, der Ihre Adresse eingetragen hat.`,
    keep: (signInUrl, label) =>
      html`<strong>Es gehört Ihnen, und Sie kennen das Passwort:</strong> <a href="${signInUrl}">Melden Sie sich einmal damit an</a>, und bestätigen Sie dann mit ${label}. Alles bleibt, wie es ist.`,
    otherwise: 'Andernfalls übernehmen Sie es:',
    only: 'Übernehmen Sie es:',
    consequences:
      'Passwort, Zwei-Faktor-Anmeldung, Sitzungen und alle Schlüssel werden ungültig. Programme mit diesen Schlüsseln funktionieren erst wieder, wenn sie neue bekommen; diese finden Sie im Portal.',
    submit: 'Konto übernehmen',
    back: 'Zurück zur Anmeldung',
  },
}

export const links: Texts['links'] = {
  token: 'Einrichtungslink',
  tokenHint: 'Der ganze Link oder der Teil nach dem #.',
  forgotten: {
    title: 'Passwort vergessen?',
    emailHint: (lifetime) =>
      `Wir senden einen Link an diese Adresse. Er funktioniert einmal und ist ${lifetime} gültig.`,
    submit: 'Link senden',
    after: 'Ein neues Passwort meldet alle Browser ab. Ihre Schlüssel bleiben, wie sie sind.',
    noMail:
      'Dieses Gateway verschickt keine E-Mails. Bitten Sie die Administration um einen Einrichtungslink, um ein neues Passwort zu wählen.',
    hasLink: (setup, signIn) =>
      html`Sie haben einen Link? <a href="${setup}">Verwenden Sie ihn</a>, oder <a href="${signIn}">melden Sie sich an</a>.`,
  },
  requested: {
    title: 'Sehen Sie in Ihre E-Mails',
    sent: (email, lifetime) =>
      html`Wenn es zu ${email} ein Konto gibt, ist ein Link für ein neues Passwort unterwegs. Er funktioniert einmal und ist ${lifetime} gültig.`,
    noEmail:
      'Keine E-Mail erhalten? Sehen Sie im Spam-Ordner nach, prüfen Sie die Adresse, oder bitten Sie die Administration um einen Einrichtungslink.',
    anotherAddress: 'Andere Adresse',
  },
  password: {
    title: 'Passwort wählen',
    after: (forgot, signIn) =>
      html`Links funktionieren einmal und für begrenzte Zeit. <a href="${forgot}">Neuen Link anfordern</a> oder <a href="${signIn}">anmelden</a>.`,
  },
  setup: {
    lead: 'Damit melden Sie sich von nun an an.',
    submit: 'Passwort festlegen',
    expires: (when) => html`Der Link läuft ${when} ab.`,
    after: 'Ein neues Passwort meldet alle anderen Browser ab; Schlüssel bleiben, wie sie sind.',
  },
  newPasswordHint: (charactersMin) =>
    `Mindestens ${charactersMin} Zeichen. Am besten einige Wörter, die Sie sich merken können; gängige Passwörter werden abgelehnt.`,
  again: (label) => `${label} wiederholen`,
  noMatch: 'Die Passwörter stimmen nicht überein.',
  verify: {
    title: 'E-Mail-Adresse bestätigen',
    token: 'Link aus der E-Mail',
    submit: 'E-Mail-Adresse bestätigen',
    after: 'Der Link funktioniert nur, während Sie bei dem Konto angemeldet sind, das ihn angefordert hat.',
    owner: (email, account) => html`Mit diesem Link erhält das Konto ${account} die E-Mail-Adresse ${email}.`,
    signInFirst: (url) =>
      html`<a href="${url}">Melden Sie sich bei diesem Konto an</a>, und öffnen Sie dann den Link in der E-Mail noch einmal.`,
    signOutFirst: (viewer) =>
      html`Sie sind bei ${viewer} angemeldet: Melden Sie sich ab und bei jenem Konto an, und öffnen Sie dann den Link in der E-Mail noch einmal.`,
    notYours: 'Das ist nicht Ihr Konto? Dann brauchen Sie nichts zu tun: Es hat sich nichts geändert.',
  },
  forOwner: {
    title: 'Einrichtungslink',
    hint: 'Damit kann die Person ein Passwort für das Portal festlegen.',
    create: 'Link erstellen',
    byMail: 'Einrichtungslink per E-Mail',
    byMailHint:
      'Damit kann die Person ein Passwort für das Portal festlegen. Er geht an die E-Mail-Adresse des Kontos.',
    mail: 'Link senden',
  },
}

export const secondFactor: Texts['secondFactor'] = {
  title: 'Zwei-Faktor-Anmeldung',
  required: 'Dieses Gateway verlangt die Zwei-Faktor-Anmeldung: Richten Sie sie ein, um fortzufahren.',
  recoveryCodes: 'Wiederherstellungscodes',
  recoveryCodesLead:
    'Speichern Sie diese Codes jetzt: Sie werden nicht noch einmal angezeigt. Mit jedem können Sie sich einmal ohne App oder Passkey anmelden.',
  isOn: 'Zwei-Faktor-Anmeldung ist eingeschaltet',
  since: 'Seit',
  recoveryCodesLeft: 'Übrige Wiederherstellungscodes',
  countOf: (left, all) => `${left} von ${all}`,
  setUp: {
    title: 'Authenticator-App einrichten',
    lead: 'Beim Anmelden wird dann nach dem Passwort ein Code abgefragt, den die App anzeigt.',
    leadWithCodes:
      'Beim Anmelden wird dann nach dem Passwort ein Code abgefragt, den die App anzeigt. Sie erhalten neue Wiederherstellungscodes, die bisherigen werden ungültig.',
    qrCode: 'QR-Code für die Authenticator-App',
    scan: 'Scannen Sie das Bild mit der App, oder geben Sie dort diesen Schlüssel ein:',
    code: 'Code aus der App',
    submit: 'Einschalten',
  },
  newCodes: {
    title: 'Neue Wiederherstellungscodes',
    lead: 'Die bisherigen Codes werden ungültig.',
    submit: 'Wiederherstellungscodes ersetzen',
  },
  turnOff: {
    title: 'Ausschalten',
    lead: 'Danach genügt zum Anmelden das Passwort.',
    submit: 'Zwei-Faktor-Anmeldung ausschalten',
  },
  removeApp: {
    title: 'App entfernen',
    lead: 'Danach wird beim Anmelden mit dem Passwort ein Passkey oder ein Wiederherstellungscode verlangt.',
    submit: 'Authenticator-App entfernen',
  },
  proof: { recoveryCode: 'Wiederherstellungscode', code: 'Code aus der App oder ein Wiederherstellungscode' },
  signIn: {
    titleWithPasskeys: 'Bestätigen Sie, dass Sie es sind',
    title: 'Code eingeben',
    usePasskey: 'Passkey verwenden',
    code: 'Code',
    codeHint:
      'Die sechs Ziffern, die Ihre Authenticator-App anzeigt, oder einer Ihrer Wiederherstellungscodes.',
    recoveryCodeHint:
      'Einer der Codes, die Sie gespeichert haben, als Sie Ihren ersten Passkey hinzugefügt haben. Jeder funktioniert einmal.',
    lostPasskeys: (startUrl) =>
      html`Passkeys und Wiederherstellungscodes verloren? Die Administration kann sie zurücksetzen. <a href="${startUrl}">Neu beginnen</a>`,
    lostApp: (startUrl) =>
      html`App und Wiederherstellungscodes verloren? Die Administration kann sie zurücksetzen. <a href="${startUrl}">Neu beginnen</a>`,
  },
  ofAccount: {
    own: (profileUrl) => html`Eingeschaltet: siehe Ihr <a href="${profileUrl}">Profil</a>.`,
    app: 'eine Authenticator-App',
    passkeys: (count) => (count === 1 ? 'ein Passkey' : `${count} Passkeys`),
    isOn: (means) => `Zwei-Faktor-Anmeldung ist eingeschaltet: ${means.join(' und ')}`,
    hint: 'Entfernen Sie alles, wenn die Person sie und die Wiederherstellungscodes verloren hat. Zum Anmelden genügt dann das Passwort.',
  },
  passkeyFirst: 'Bestätigen Sie zuerst mit einem Passkey; das gilt 5 Minuten lang.',
}

export const passkeys: Texts['passkeys'] = {
  title: 'Passkeys',
  lead: 'Ein Passkey ist Ihr zweiter Faktor. Prüft er, dass Sie es sind, meldet er Sie auch ohne Passwort an.',
  none: 'Keine Passkeys',
  noneText:
    'Fügen Sie einen hinzu, um sich mit Fingerabdruck, Gesicht, PIN oder einem Sicherheitsschlüssel anzumelden.',
  needScript: 'Passkeys brauchen JavaScript.',
  needBrowser: 'Passkeys brauchen JavaScript und einen Browser, der sie unterstützt.',
  added: 'Hinzugefügt',
  ofPasskey: (name) => `Passkey ${name}`,
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
