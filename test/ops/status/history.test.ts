import t from 'tap'
import { openMetrics } from '#ops/metrics/metrics.ts'
import { createHistory, historyMs, sampleMs } from '#ops/status/history.ts'
import { plotsCard } from '#ops/status/plots.ts'

t.test(
  'the history holds an hour of points and no more, and forgets whole snapshots after a minute',
  async (t) => {
    const metrics = openMetrics({ version: '1' })
    const history = createHistory()
    const pointsMax = historyMs / sampleMs
    let now = 1_000_000_000_000
    for (let turn = 0; turn <= 3 * pointsMax; turn++) {
      metrics.requests.labels('a', 'GET', '200').value += 30
      history.add(now, await metrics.ownSnapshot())
      // Looks in between take no sample.
      history.add(now + 1, await metrics.ownSnapshot())
      const count = history.points(now).length
      if (count !== Math.min(turn, pointsMax)) t.fail(`${count} points after ${turn} turns`)
      now += sampleMs
    }
    now -= sampleMs
    const points = history.points(now)
    t.equal(points.length, pointsMax)
    t.ok(points.every(({ requests, seconds }) => requests === 30 && seconds === sampleMs / 1_000))
    t.ok(now - Date.parse(points[0]?.at ?? '') < historyMs)
    t.equal(now - (history.oldestRecentSample(now)?.at ?? 0), 60_000)
    t.equal(history.oldestRecentSample(now + 120_000), undefined)
    t.strictSame(
      history.points(now + 2 * historyMs),
      [],
      'old points are not returned, even if none are added',
    )
  },
)

t.test('a clock set back leaves no future and no negative points in the history', async (t) => {
  const metrics = openMetrics({ version: '1' })
  const history = createHistory()
  const start = 1_000_000_000_000
  for (const at of [0, 1, 2, 3]) history.add(start + at * sampleMs, await metrics.ownSnapshot())
  const back = start - historyMs
  history.add(back, await metrics.ownSnapshot())
  history.add(back + sampleMs, await metrics.ownSnapshot())
  const points = history.points(back + sampleMs)
  t.equal(points.length, 1)
  t.equal(points[0]?.seconds, sampleMs / 1_000)
})

t.test('plots draw gaps where nothing was measured, and join reasons beyond four', async (t) => {
  const now = 1_000_000_000_000
  const refusals = Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((code, index) => [code, 90 - index]))
  const point = (ago: number, p50: number | null) => ({
    at: new Date(now - ago).toISOString(),
    seconds: 15,
    requests: 15,
    failed: 0,
    refusals,
    latencyMs: p50 === null ? null : { p50, p95: p50, p99: p50 },
    overheadMs: null,
  })
  const { text } = plotsCard([point(45_000, 1), point(30_000, null), point(15_000, 2), point(0, 2)], now)
  t.match(text, /<path class="line line-1" d="M\d+ [\d.]+h\.1M\d+ [\d.]+h\.1L\d+ [\d.]+"/, 'a gap')
  t.match(text, /other reasons <span class="muted">11\.4\/s/)
  t.equal(text.match(/role="img"/g)?.length, 4)
  t.match(text, '<details class="numbers"', 'the same as a table')
  t.notMatch(text, /style="|NaN|Infinity|undefined/)
  t.match(plotsCard([], now).text, 'first data point')
})
