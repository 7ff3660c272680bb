import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { FastCounter } from './counter.ts'
import { register } from './instrument.ts'

/** What is told of who may pass, and of the store that says so. */
export function createAuthInstruments(registry: Registry) {
  const registers = [registry]
  const decisions = new FastCounter({
    name: 'gatehouse_auth_decisions_total',
    help: 'Decisions on who may pass: scheme is secretKey, bearer or none; reason is ok, anonymous or the error code.',
    labelNames: ['scheme', 'outcome', 'reason'],
  })
  const keyCache = new FastCounter({
    name: 'gatehouse_key_cache_requests_total',
    help: 'Look-ups of accounts in the cache: hit, negative_hit (known not to exist), miss, or stale (served while the store is out of reach).',
    labelNames: ['result'],
  })
  register(registry, [decisions, keyCache])
  const tokensIssued = new Counter({
    name: 'gatehouse_tokens_issued_total',
    help: 'Access tokens issued, by grant: keys or refresh.',
    labelNames: ['grant'],
    registers,
  })
  const storeUp = new Gauge({
    name: 'gatehouse_store_up',
    help: '1 = the store answered when it was last asked, 0 = it did not; with several workers, the lowest value.',
    aggregator: 'min',
    registers,
  })
  const storeWritable = new Gauge({
    name: 'gatehouse_store_writable',
    help: '1 = the store takes writes, 0 = it refuses them or is out of reach; with several workers, the lowest value.',
    aggregator: 'min',
    registers,
  })
  const revocationDelay = new Histogram({
    name: 'gatehouse_revocation_delay_seconds',
    help: 'Time from a change in the store (reset, role, disabling, end of a session, …) to its effect in this process.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
    registers,
  })
  return {
    decisions,
    keyCache,
    tokensIssued,
    storeUp,
    storeWritable,
    revocationDelay,
    ...createAcknowledgementInstruments(registers),
  }
}

/** Which refresh tokens were given out, as the store knows it. */
function createAcknowledgementInstruments(registers: Registry[]) {
  let readWaiting = () => 0
  new Gauge({
    name: 'gatehouse_refresh_acknowledgements_pending',
    help: 'Refresh tokens given out of which the store does not know yet: until then the token before works on, whatever `reuseGrace` is.',
    registers,
    collect() {
      this.set(readWaiting())
    },
  })
  const acknowledgementsLost = new Counter({
    name: 'gatehouse_refresh_acknowledgements_lost_total',
    help: 'Refresh tokens given out of which the store will not know: the token before works until the one given out is used.',
    registers,
  })
  return {
    acknowledgementsLost,
    /** @param read gives how many are pending at present */
    collectPendingAcknowledgements: (read: () => number) => {
      readWaiting = read
    },
  }
}
