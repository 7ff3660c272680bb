import { Registry } from 'prom-client'
import t, { type Test } from 'tap'
import { collectEventLoopLag } from '#ops/metrics/process-metrics.ts'
import { until } from '../../setup/net.ts'

// alone: measures the lag of the event loop
// timed: measures the lag of the event loop

const name = (figure: string) => `nodejs_eventloop_lag_${figure}_seconds`

/** Metrics of this process. */
function watchLag(t: Test) {
  const registry = new Registry()
  const lag = collectEventLoopLag(registry)
  t.teardown(lag.stop)
  return async (figure: string) => {
    lag.update()
    const metrics = await registry.getMetricsAsJSON()
    return metrics.find((metric) => metric.name === name(figure))?.values[0]?.value ?? Number.NaN
  }
}

t.test('an unblocked event loop shows no lag between samples', async (t) => {
  const read = watchLag(t)
  t.equal(await read('max'), 0, 'and before the first look it is not late at all')
  const least = await until('it has looked', async () => (await read('min')) || undefined)
  t.ok(least < 0.05, `${least}`)
})

t.test('a block of the event loop is measured in full, once', async (t) => {
  const read = watchLag(t)
  await until('it looks', async () => (await read('max')) || undefined)
  // Longer than an idle event loop is sampled.
  const end = performance.now() + 1_500
  while (performance.now() < end);
  const most = await until('it was late', async () => {
    const now = await read('max')
    return now > 0.3 ? now : undefined
  })
  t.ok(most < 5, `${most}`)
  await until('it is over', async () => (await read('max')) < 0.3 || undefined)
})

t.test('an idle event loop is sampled less often than a busy one', async (t) => {
  const timers = t.capture(globalThis, 'setTimeout', setTimeout)
  const intervals = t.capture(globalThis, 'setInterval', setInterval)
  watchLag(t)
  await until('it is idle', () => intervals().some(({ args: [, ms] }) => ms === 1_000) || undefined)
  await until('it is busy', () => {
    const end = performance.now() + 100
    while (performance.now() < end);
    return timers().some(({ args: [work, ms] }) => work.name === 'sampleBusy' && ms === 100) || undefined
  })
})
