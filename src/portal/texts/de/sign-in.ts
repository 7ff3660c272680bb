import { html } from '#platform/pages/html.ts'
import type { Texts } from '../en/en.ts'

export const signIn: Texts['signIn'] = {
  title: 'Anmelden',
  lead: 'Verwalten Sie Ihre Schlüssel und Sitzungen.',
  email: 'E-Mail',
  password: 'Passwort',
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
