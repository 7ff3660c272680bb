import { join } from 'node:path'
import t from 'tap'
import { answerMs } from '#identity/issuers/introspection.ts'
import { startBoth } from '../setup/both.ts'
import { ask } from './support/ask.ts'
import { asker, opaqueConfig, startOpaqueProvider } from './support/opaque-provider.ts'

t.test('a token that a real provider revokes is refused within a minute, used or not', async (t) => {
  const provider = await startOpaqueProvider(t)
  const secretFile = join(t.testdir({ secret: asker.clientSecret }), 'secret')
  let passedMs = 0
  const { gateway } = await startBoth(t, {
    config: opaqueConfig(provider.url, secretFile),
    clock: () => Date.now() + passedMs,
  })
  const statusOf = async (token: string) =>
    (await ask(t, gateway.url, 'GET /read', [`Authorization: Bearer ${token}`])).status
  const [busy, idle, valid] = [
    await provider.newToken(),
    await provider.newToken(),
    await provider.newToken(),
  ]
  for (const token of [busy, idle, valid]) t.equal(await statusOf(token), 200)
  for (const token of [busy, idle]) t.equal(await provider.revoke(token), 200)
  passedMs = answerMs / 2
  t.equal(await statusOf(busy), 200, 'the answer holds: the provider is not asked for each request')
  passedMs = answerMs
  for (const token of [busy, idle]) t.equal(await statusOf(token), 401)
  t.equal(await statusOf(valid), 200)
})
