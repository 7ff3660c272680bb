import t from 'tap'
import { createIgnoredUpgradeLog } from '#gateway/gate/upgrades.ts'

t.test('an ignored upgrade is logged once a minute for each route', async (t) => {
  const logged: unknown[] = []
  let now = 5
  const log = createIgnoredUpgradeLog({ warn: (fields: unknown) => logged.push(fields) }, () => now)
  for (const [at, route, lines] of [
    [5, 'a', 1],
    [5, 'a', 1],
    [60_004, 'a', 1],
    [60_004, 'b', 2],
    [60_005, 'a', 3],
    [60_006, 'a', 3],
    [3_600_000, 'a', 4],
  ] as const) {
    now = at
    log(route)
    t.equal(logged.length, lines, `${at}`)
  }
  t.strictSame(logged, [{ route: 'a' }, { route: 'b' }, { route: 'a' }, { route: 'a' }])
})
