import t from 'tap'
import { startBoth } from '../setup/both.ts'
import { until } from '../setup/net.ts'
import { startRedis } from '../setup/redis.ts'
import { day } from '../store/samples.ts'

const maxStaleMs = 4_000
/** Cached data counts from the last reading of the change log, which came at most this long before the store went. */
const readBeforeMs = 1_000

for (const [direction, stepMs] of [
  ['forward', day],
  ['back', -day],
] as const) {
  t.test(
    `known callers are served for exactly maxStale though the clock is set ${direction} by a day`,
    async (t) => {
      const clock = { aheadMs: 0 }
      const redis = await startRedis(t)
      const gateway = await startBoth(t, {
        driver: 'redis',
        redis,
        config: { cache: { maxStale: `${maxStaleMs / 1_000}s` } },
        clock: () => Date.now() + clock.aheadMs,
      })
      const { secretKey } = await gateway.createAccount()
      const ask = async () => {
        const response = await fetch(`${gateway.url}/any`, { headers: { SecretKey: secretKey } })
        await response.arrayBuffer()
        return response.status
      }
      const health = async () => {
        const response = await fetch(`${gateway.opsUrl}/readyz`)
        return { status: response.status, text: await response.text() }
      }
      await until('the caller is cached', async () => (await ask()) === 200)
      await redis.stop()
      const goneAt = performance.now()
      clock.aheadMs = stepMs

      t.equal(await ask(), 200, 'at once')
      t.match(await health(), { status: 200 })
      const servedUntil = await until('no caller is served any more', async () => {
        const status = await ask()
        if (status === 200) return undefined
        t.equal(status, 503)
        return performance.now() - goneAt
      })
      t.ok(servedUntil >= maxStaleMs - readBeforeMs, `served for ${servedUntil.toFixed(0)} ms`)
      clock.aheadMs = 0
      t.equal(await ask(), 503, 'setting the clock right serves no caller again')
      t.match(await health(), { status: 503 })
    },
  )
}
