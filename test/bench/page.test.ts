import t from 'tap'
import { isPageFresh, makePage } from '../../bench/page.ts'
import type { Result } from '../../bench/results.ts'

t.test('the benchmark page matches the results', async (t) => {
  t.ok(isPageFresh(), 'node bench/page.ts')
})

const result: Result = {
  scenario: 'post',
  summary: 'Some summary',
  note: 'Some note.',
  compared: 'cpuUs',
  load: 'own',
  figures: { cpuUs: { title: 'CPU µs', digits: 1 } },
  yardsticks: ['haproxy', 'absent'],
  at: '2026-01-02T03:04:05.000Z',
  machine: { processor: 'A processor', cores: 2, loadAverage: 1.25, versions: { node: '26.0.0' } },
  connections: 32,
  seconds: 3,
  missing: ['nginx'],
  contestants: {
    haproxy: [{ cpuUs: 10 }, { cpuUs: 20 }, { cpuUs: 30 }],
    gatehouse: [{ cpuUs: 25 }, { cpuUs: 40 }, { cpuUs: 90 }],
  },
}

t.test('benchmark figures are medians with their spread, and ratios are taken within a run', async (t) => {
  const page = makePage(new Map([['post', result]]))
  const [row = ''] = page.split('\n').filter((line) => line.startsWith('| gatehouse'))
  t.match(row, '40.0 (25.0–90.0)')
  t.match(row, '2.50 (2.00–3.00)', 'not 40 / 20, and not 90 / 10')
  t.match(page, 'not there: nginx')
  t.match(page, '3 runs of 3 s, 32 connections, load by own')
})

t.test('a scenario that was not measured is marked so', async (t) => {
  t.match(makePage(new Map()), 'Not measured: `npm run bench -- --scenario small-get`')
})
