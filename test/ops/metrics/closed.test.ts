import t from 'tap'
import { openMetrics } from '#ops/metrics/metrics.ts'
import { collectGarbage } from '../../setup/collect-garbage.ts'

function openedAndClosed(): WeakRef<object> {
  const metrics = openMetrics({ version: '1' })
  metrics.close()
  return new WeakRef(metrics.lastReload)
}

t.test('an app that opens and closes gateways keeps none of their instruments', async (t) => {
  const instruments = [openedAndClosed(), openedAndClosed()]
  await collectGarbage()
  t.strictSame(
    instruments.map((each) => each.deref()),
    [undefined, undefined],
  )
})

t.test('the metrics of the process are in those of every gateway', async (t) => {
  for (const version of ['1', '2']) {
    const metrics = openMetrics({ version })
    t.teardown(metrics.close)
    const text = await metrics.text()
    for (const name of [
      'process_cpu_seconds_total',
      'nodejs_gc_duration_seconds_count',
      'nodejs_eventloop_lag_max_seconds',
    ])
      t.match(text, name)
  }
})
