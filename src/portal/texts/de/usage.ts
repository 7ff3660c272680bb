import type { QuotaUnit } from '#gateway/routes/route.ts'
import { html } from '#platform/pages/html.ts'
import type { Texts } from '../en/en.ts'

const counted = {
  requests: { one: 'Anfrage', many: 'Anfragen' },
  units: { one: 'Einheit', many: 'Einheiten' },
} as const

export const usage: Texts['usage'] = {
  title: 'Nutzung',
  ownLead: 'Anfragen, die für Ihr Konto weitergeleitet wurden, pro UTC-Tag.',
  lead: (name) => `Anfragen, die für ${name} weitergeleitet wurden, pro UTC-Tag.`,
  plan: (name) => `Tarif: ${name}`,
  unknownPlan: 'Diesen Tarif gibt es nicht mehr; das Konto ist daher nicht begrenzt.',
  perUnit: (requests, unit) => `${countIn(requests, 'requests')} pro ${unit}`,
  perSpan: (requests, span) => `${countIn(requests, 'requests')} alle ${span}`,
  burst: (limit, requests) => `${limit}, höchstens ${requests} auf einmal.`,
  keyQuotas: 'Kontingente von Schlüsseln',
  usedToday: (used, limit, unit) => `Heute (UTC) ${used} von ${limit} ${counted[unit].many} verbraucht`,
  usedThisMonth: (used, limit, unit) =>
    `In diesem Monat (UTC) ${used} von ${limit} ${counted[unit].many} verbraucht`,
  resetsOnDay: (at) => html`Beginnt ${at} neu (0:00 UTC).`,
  resetsInMonth: (at, day) => html`Beginnt ${at} neu (${day}, 0:00 UTC).`,
  usedUp: 'Aufgebraucht',
  nearlyUsedUp: 'Fast aufgebraucht',
  from: 'Von',
  to: 'Bis',
  show: 'Anzeigen',
  days: 'Tage',
  none: 'Keine Anfragen an diesen Tagen',
  noneHint: 'Anfragen erscheinen hier innerhalb weniger Sekunden.',
  sum: (requests, from, to, most) =>
    `${requests} Anfragen vom ${from} bis zum ${to}, höchstens ${most} am Tag.`,
  sums: 'Schlüssel und Routen',
  sumsLead: 'Eine Einheit sind die Kosten, die ein Backend meldet; ohne Angabe 1.',
  columns: { key: 'Schlüssel', route: 'Route', requests: 'Anfragen', units: 'Einheiten' },
  unknownKey: 'unbekannt',
}

/** Such as `1 Anfrage`, `3 Einheiten`. @param count as it is shown */
export function countIn(count: string, unit: QuotaUnit): string {
  const { one, many } = counted[unit]
  return `${count} ${count === '1' ? one : many}`
}
