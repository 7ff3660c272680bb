import { german } from '#platform/locales.ts'
import { formatCount } from '#platform/pages/format.ts'
import { html } from '#platform/pages/html.ts'
import type { Texts } from '../en/en.ts'

export const accounts: Texts['accounts'] = {
  account: 'Konto',
  email: 'E-Mail',
  role: 'Rolle',
  plan: 'Tarif',
  state: 'Status',
  disabled: 'Gesperrt',
  you: 'Sie',
  cancel: 'Abbrechen',
  firstPage: 'Erste Seite',
  nextPage: 'Nächste Seite',
  roleHint: (roles) => `Groß- und Kleinschreibung zählt. Bekannte Rollen: ${roles}.`,
  wrongCase: (similar) => `Meinten Sie ${similar}? Bei Rollen zählt Groß- und Kleinschreibung.`,
  planHint: 'Wie viel das Konto nutzen darf.',
  noPlan: 'Keiner (unbegrenzt)',
  unknownPlan: (name) => `${name} (nicht in der Konfiguration, daher unbegrenzt)`,
  choosePlan: 'Wählen Sie einen Tarif.',
  new: {
    title: 'Neues Konto',
    lead: 'Das Konto bekommt Schlüssel. Die nächste Seite zeigt sie.',
    leadWithLink:
      'Das Konto bekommt Schlüssel. Die nächste Seite zeigt sie und einen Einrichtungslink zum Weitergeben.',
    isVerified: 'E-Mail-Adresse als bestätigt markieren',
    mailsLink: 'Einrichtungslink an diese Adresse senden',
    submit: 'Konto erstellen',
  },
  delete: {
    title: 'Dieses Konto löschen?',
    lead: (email) =>
      html`<strong>${email}</strong> verliert sofort alle Schlüssel, Tokens und Sitzungen. Das lässt sich nicht rückgängig machen.`,
    confirmation: 'Geben Sie zur Bestätigung die E-Mail-Adresse des Kontos ein',
    differs: 'Das ist nicht die E-Mail-Adresse des Kontos.',
    submit: 'Konto löschen',
  },
}

/** The same in the nominative and in the dative. */
export function accountCount(count: number): string {
  return `${formatCount(count, german)} ${count === 1 ? 'Konto' : 'Konten'}`
}
