import { join } from 'node:path'
import t from 'tap'
import { run } from '../cli/run.ts'
import { startBoth } from '../setup/both.ts'
import { ask } from './support/ask.ts'
import { asker, opaqueConfig, startOpaqueProvider } from './support/opaque-provider.ts'

t.test('opaque tokens of a real OpenID provider pass until they are revoked', async (t) => {
  const provider = await startOpaqueProvider(t)
  const secretFile = join(t.testdir({ secret: asker.clientSecret }), 'secret')
  const config = opaqueConfig(provider.url, secretFile)
  const { backend, gateway } = await startBoth(t, { config })
  const statusOf = async (path: string, token: string) =>
    (await ask(t, gateway.url, `GET ${path}`, [`Authorization: Bearer ${token}`])).status

  const [reader, plain, revoked] = [
    await provider.newToken(),
    await provider.newToken(''),
    await provider.newToken(),
  ]
  t.notMatch(reader, '.', 'it is no JWT')
  t.strictSame([await statusOf('/read', reader), await statusOf('/orders', reader)], [200, 403])
  t.equal(backend.last().headers['x-user-id'], 'corp:reader')
  t.strictSame([await statusOf('/read', plain), await statusOf('/orders', plain)], [403, 200])
  t.equal(await statusOf('/orders', `${reader}x`), 401)

  t.equal(await provider.revoke(revoked), 200)
  t.equal(await statusOf('/read', revoked), 401, 'revoked before it was seen here')

  const explain = async () => {
    const args = ['explain', 'GET', '/read', '-H', `Authorization: Bearer ${reader}`, '--json']
    return (await run(t, [...args, '--config', gateway.configFile])).json()
  }
  t.match(await explain(), { decision: 'forward' })
  t.equal(await provider.revoke(reader), 200)
  t.match(await explain(), { decision: 'refuse', status: 401, code: 'token-invalid' })
  t.equal(await statusOf('/read', reader), 200, 'the answer holds for a minute')
})
