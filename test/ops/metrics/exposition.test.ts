import { Gauge, Registry } from 'prom-client'
import t from 'tap'
import { FastHistogram } from '#ops/metrics/histogram.ts'
import { exposition, FastCounter, register } from '#ops/metrics/instrument.ts'
import { openMetrics } from '#ops/metrics/metrics.ts'

const names = ['plain', 'with "quotes"', 'back\\slash', 'two\nlines', 'Łódź', '']

t.test('the exposition of the own instruments is what prom-client writes of them', async (t) => {
  const registry = new Registry()
  const help = 'With a \\ and\na new line.'
  const labelled = { help, labelNames: ['route', 'code'], optionalLabel: 'listener' }
  const counter = new FastCounter({ name: 'requests_total', ...labelled })
  const histogram = new FastHistogram({ name: 'seconds', ...labelled, buckets: [0.001, 1, 2.5] })
  const unlabelled = new FastHistogram({ name: 'plain_seconds', help, buckets: [1] })
  new Gauge({ name: 'gauge', help, registers: [registry] }).set(3)
  register(registry, [counter, histogram, new FastCounter({ name: 'plain_total', help }), unlabelled])
  names.forEach((name, index) => {
    counter.labels(name, '200', index % 2 === 0 ? '' : 'decide').value += index * 1.5
    histogram.labels(name, '200', index % 2 === 0 ? '' : 'decide').observe(index / 3)
  })
  unlabelled.labels().observe(1e-9)
  unlabelled.labels().observe(1e21)
  t.equal(await exposition(registry), await registry.metrics())
})

t.test('the exposition has every instrument once', async (t) => {
  const metrics = openMetrics({ version: '1.2.3' })
  t.teardown(metrics.close)
  const types = (await metrics.text()).split('\n').filter((line) => line.startsWith('# TYPE '))
  t.equal(new Set(types).size, types.length)
  t.strictSame(
    types.map((line) => line.split(' ')[2]).sort(),
    metrics
      .describe()
      .map(({ name }) => name)
      .sort(),
  )
})
