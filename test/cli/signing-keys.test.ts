import { generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import { startGateway, storeDrivers } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { run } from './run.ts'
import { createWorkspace, createWorkspaceOn } from './workspace.ts'

interface ListedKey {
  readonly kid: string
  readonly state: string
  readonly createdAt: string
  readonly signsFrom: string
}

for (const driver of storeDrivers) {
  t.test(`signing-keys commands beside a running gateway on ${driver}`, async (t) => {
    const gateway = await startGateway(t, { driver })
    const account = await gateway.createAccount()
    const gatehouse = (...args: readonly string[]) => run(t, [...args, '--config', gateway.configFile])
    const list = async () =>
      (await gatehouse('signing-keys', 'list', '--json')).json() as readonly ListedKey[]
    const published = async () => {
      const response = await fetch(`${gateway.url}/.well-known/jwks.json`)
      const { keys } = (await response.json()) as { readonly keys: readonly { readonly kid: string }[] }
      return keys.map(({ kid }) => kid).toSorted()
    }
    const newToken = async () => (await gateway.tokens(account)).JwtToken
    const isRefused = async (token: string) => {
      const { status } = await fetch(`${gateway.url}/bearer`, {
        headers: { Authorization: `Bearer ${token}` },
      })
      return status === 401
    }
    const [first] = await list()
    const firstKid = first?.kid ?? ''
    const firstToken = await newToken()

    t.test("the gateway's first key is listed as signing", async (t) => {
      const keys = await list()
      t.equal(keys.length, 1)
      t.strictSame(Object.keys(keys[0] ?? {}), ['kid', 'algorithm', 'state', 'createdAt', 'signsFrom'])
      t.match(keys, [{ kid: kidOf(firstToken), algorithm: 'ES256', state: 'signing' }])
      const { stdout } = await gatehouse('signing-keys', 'list')
      t.match(stdout, /^KID +ALGORITHM +STATE +CREATED +SIGNS FROM\n\S+ +ES256 +signing +\S+ +\S+\n$/)
    })

    t.test('signing-keys retire refuses the last key that can sign, and an unknown key', async (t) => {
      const last = await gatehouse('signing-keys', 'retire', firstKid)
      t.equal(last.status, 1)
      t.match(last.stderr, `gatehouse: ${firstKid} is the only key that can sign\n  Add another first: `)
      const unknown = await gatehouse('signing-keys', 'retire', 'nonsense')
      t.equal(unknown.status, 1)
      t.match(unknown.stderr, /^gatehouse: there is no signing key nonsense\n.*signing-keys list/)
      t.equal((await list()).length, 1)
    })

    t.test('rotate announces a key ten minutes before it signs', async (t) => {
      const outcome = await gatehouse('signing-keys', 'rotate', '--json')
      t.equal(outcome.status, 0)
      t.strictSame(Object.keys(outcome.json() as object), ['kid', 'signsFrom'])
      const { kid, signsFrom } = outcome.json() as ListedKey
      await until('both are published', async () => (await published()).includes(kid) || undefined)
      t.strictSame(await published(), [firstKid, kid].toSorted())
      t.equal(kidOf(await newToken()), firstKid)
      const announced = (await list()).find((key) => key.kid === kid)
      t.match(announced, { state: 'announced', signsFrom })
      t.ok(Math.abs(Date.parse(signsFrom) - Date.parse(announced?.createdAt ?? '') - 600_000) < 1_000)
    })

    t.test(
      'a key of rotate --now signs at once, and the previous one verifies until it is retired',
      async (t) => {
        const { status, stdout } = await gatehouse('signing-keys', 'rotate', '--now')
        t.equal(status, 0)
        const [, kid = ''] = /^Signing key (\S+) signs from now on\.\n/.exec(stdout) ?? []
        await until('it signs', async () => kidOf(await newToken()) === kid || undefined)
        t.notOk(await isRefused(firstToken))
        const retired = await gatehouse('signing-keys', 'retire', firstKid, '--json')
        t.strictSame(retired.json(), { kid: firstKid })
        await until('its tokens are refused', async () => (await isRefused(firstToken)) || undefined)
        t.notOk((await published()).includes(firstKid))
        const states = (await list()).map((key) => [key.kid === kid ? 'now' : 'announced before', key.state])
        t.strictSame(Object.fromEntries(states), { now: 'signing', 'announced before': 'verifying' })
        t.notOk(await isRefused(await newToken()))
      },
    )
  })
}

t.test('before the gateway has run there is no signing key, and rotate creates one that signs', async (t) => {
  for (const driver of storeDrivers) {
    const { run } = await createWorkspaceOn(t, driver)
    t.match(await run('signing-keys', 'list'), { status: 0, stdout: /^No signing keys yet: / })
    t.equal((await run('signing-keys', 'list', '--json')).stdout, '[]\n')
    t.match(await run('signing-keys', 'rotate'), {
      status: 0,
      stdout: /is published, and signs in 10 minutes/,
    })
    const keys = (await run('signing-keys', 'list', '--json')).json() as readonly ListedKey[]
    t.strictSame(keys.map(({ state }) => state).toSorted(), ['announced', 'signing'])
    for (const { createdAt, signsFrom } of keys)
      t.ok(createdAt <= signsFrom, 'no key signs before it is made')
  }
})

t.test('signing-keys commands refuse to manage keys from the config', async (t) => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const keys = [{ kid: 'k', use: 'sign', private: { file: 'key.pem' } }]
  const { run } = createWorkspace(t, { tokens: { keys } }, { 'key.pem': pem })
  for (const args of [['list'], ['rotate'], ['retire', 'k']]) {
    const { status, stdout, stderr } = await run('signing-keys', ...args, '--json')
    t.equal(status, 1)
    t.equal(stdout, '')
    t.match(
      stderr,
      /^gatehouse: the signing keys come from the config \(tokens\.keys\), not from the store\n/,
    )
  }
})

function kidOf(token: string): string {
  const header = JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as {
    readonly kid: string
  }
  return header.kid
}
