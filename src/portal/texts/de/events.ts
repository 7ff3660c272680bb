import { html } from '#platform/pages/html.ts'
import type { Texts } from '../en/en.ts'

export const events: Texts['events'] = {
  title: 'Ereignisse',
  lead: 'Programme, die über Änderungen informiert werden, und ob sie die Ereignisse annehmen.',
  receivers: 'Empfänger',
  receiversLead:
    'Ein Ereignis, das nicht angenommen wird, wird in wachsenden Abständen erneut gesendet und nach drei Tagen verworfen.',
  none: 'Keine Empfänger',
  noneHint: html`Tragen Sie einen unter <code>events</code> in die Konfiguration des Gateways ein.`,
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
