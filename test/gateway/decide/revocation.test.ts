import t from 'tap'
import { startBackend } from '../../setup/backend.ts'
import { storeDrivers } from '../../setup/gateway.ts'
import { until } from '../../setup/net.ts'
import { connectRaw } from '../../setup/raw-client.ts'
import { nginx } from './proxies/nginx.ts'
import { startProxy } from './proxies/run-proxy.ts'
import { startDecideGateway } from './support.ts'

/** How long a reset may take to be known, for most and at most. */
const usuallyMs = 50
const alwaysMs = 500
const resets = 20

for (const driver of storeDrivers)
  t.test(`a key that is reset is refused through nginx within ${alwaysMs} ms, with ${driver}`, async (t) => {
    const backend = await startBackend(t)
    const gateway = await startDecideGateway(t, { driver })
    const { url } = await startProxy(t, nginx, {
      gatehouse: gateway.url,
      decide: gateway.decideUrl,
      backend: backend.url,
    })
    const client = await connectRaw(t, url)
    const delays: number[] = []
    await gateway.operate(async ({ defaultKeys }) => {
      for (let round = 0; round < resets; round++) {
        const { account, secretKey } = await gateway.createAccount()
        const head = `GET /key HTTP/1.1\r\nHost: gateway.test\r\nSecretKey: ${secretKey}\r\n\r\n`
        const status = async () => (await client.send(head).response()).status
        // A busy machine may not get an answer of Redis in time: then it is 503, and asked again.
        await until('it is accepted', async () => (await status()) === 200 || undefined)
        await defaultKeys.resetSecretKey(account.id, 0)
        const resetAt = performance.now()
        let askedAt = resetAt
        while ((await status()) === 200) askedAt = performance.now()
        delays.push(askedAt - resetAt)
        t.equal(await status(), 401, 'and stays refused')
      }
    })
    const [median = 0, most = 0] = [delays.toSorted((a, b) => a - b)[resets / 2], Math.max(...delays)]
    t.comment(`median ${median.toFixed(1)} ms, most ${most.toFixed(1)} ms`)
    t.ok(median <= usuallyMs, `half within ${usuallyMs} ms: ${median}`)
    t.ok(most <= alwaysMs, `all within ${alwaysMs} ms: ${most}`)
  })
