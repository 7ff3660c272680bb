import { Counter, Gauge, type Registry } from 'prom-client'

/** Instruments for what receivers are told. */
export function createEventInstruments(registry: Registry) {
  const registers = [registry]
  let readPending = () => 0
  new Gauge({
    name: 'gatehouse_events_pending',
    help: 'Entries of the audit log that receivers of events have not accepted yet; each receiver is counted by the process that delivers to it.',
    registers,
    collect() {
      this.set(readPending())
    },
  })
  const eventsDelivered = new Counter({
    name: 'gatehouse_events_delivered_total',
    help: 'Events that were sent to receivers, by result: delivered, failed (it is tried again) or dropped (not accepted for three days).',
    labelNames: ['result'],
    registers,
  })
  return {
    eventsDelivered,
    /** @param read returns the number of pending ones */
    collectPendingEvents: (read: () => number) => {
      readPending = read
    },
  }
}
