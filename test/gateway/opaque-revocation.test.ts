// slow: an answer of the issuer holds for a minute
import { join } from 'node:path'
import t from 'tap'
import { answerMs } from '#identity/issuers/introspection.ts'
import { startBoth } from '../setup/both.ts'
import { until } from '../setup/net.ts'
import { ask } from './support/ask.ts'
import { asker, opaqueConfig, startOpaqueProvider } from './support/opaque-provider.ts'

t.setTimeout(2 * answerMs)

t.test('a token that a real provider revokes is refused within a minute, used or not', async (t) => {
  const provider = await startOpaqueProvider(t)
  const secretFile = join(t.testdir({ secret: asker.clientSecret }), 'secret')
  const { gateway } = await startBoth(t, { config: opaqueConfig(provider.url, secretFile) })
  const statusOf = async (token: string) =>
    (await ask(t, gateway.url, 'GET /read', [`Authorization: Bearer ${token}`])).status
  const [busy, idle] = [await provider.newToken(), await provider.newToken()]
  t.strictSame([await statusOf(busy), await statusOf(idle)], [200, 200])
  const knownAt = performance.now()
  for (const token of [busy, idle]) t.equal(await provider.revoke(token), 200)
  const refused = async () => ((await statusOf(busy)) === 401 ? true : undefined)
  await until('the revocation is known', refused, answerMs + 5_000)
  const afterMs = performance.now() - knownAt
  t.ok(afterMs <= answerMs + 1_000, `${afterMs} ms`)
  t.comment(`refused after ${Math.round(afterMs)} ms`)
  await until('a minute is over', async () => performance.now() - knownAt > answerMs || undefined, answerMs)
  t.equal(await statusOf(idle), 401)
})
