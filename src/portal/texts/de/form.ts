import { html } from '#platform/pages/html.ts'
import type { Texts } from '../en/en.ts'

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
