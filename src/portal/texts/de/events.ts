import { html } from '#platform/pages/html.ts'
import type { Texts } from '../en/en.ts'

export const events: Texts['events'] = {
  title: 'Ereignisse',
  lead: 'Welche Programme über Änderungen informiert werden, und ob sie die Ereignisse annehmen.',
  receivers: 'Empfänger',
  receiversLead:
    'Nicht angenommene Ereignisse werden in wachsenden Abständen erneut gesendet und nach drei Tagen verworfen.',
  none: 'Keine Empfänger',
  noneHint: html`Tragen Sie in der Konfiguration des Gateways unter <code>events</code> einen ein.`,
  accepted: (receiver) => `${receiver} hat ein Testereignis angenommen.`,
  notAccepted: (receiver, error) => `${receiver} hat das Testereignis nicht angenommen: ${error}`,
  receiver: 'Empfänger',
  state: 'Status',
  pending: 'Ausstehend',
  dropped: 'Verworfen',
  delivered: 'Zugestellt',
  never: 'Nie',
  moreThan: (count) => `Mehr als ${count}`,
  test: 'Testereignis senden',
  retry: 'Jetzt erneut senden',
  new: 'Neu',
  nothingSent: 'Es wurde noch nichts gesendet.',
  working: 'Funktioniert',
  failing: 'Gestört',
  lastFailure: (at) => html`Letzter Fehler ${at}`,
  nextTry: (at) => html`Nächster Versuch ${at}`,
}
