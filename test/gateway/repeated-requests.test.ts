import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { createRandom } from '../http/outgoing/random.ts'
import { startBoth } from '../setup/both.ts'
import { connectRaw, RawClient, type RawResponse } from '../setup/raw-client.ts'
import { reloadWith, taken } from './support/reload.ts'

const route = (name: string, path: string, more: object) => ({ name, path, upstream: 'backend', ...more })
const routes = (openRoute: object) => [
  route('open', '/open', openRoute),
  route('any', '/any', { auth: 'any' }),
  route('elsewhere', '/any', { auth: 'none', host: 'other.test' }),
  route('admin', '/any/admin', { auth: 'any', roles: ['Admin'] }),
  route('write', '/open/write', { auth: 'any', methods: ['PUT'] }),
]
const targets = [
  '/open',
  '/open/x?a',
  '/open/write',
  '/any',
  '/any/admin',
  '/any/Admin',
  '/any//x',
  '/none',
  '/',
]
const methods = ['GET', 'PUT', 'DELETE', 'OPTIONS']
const hosts = ['gateway.test', 'other.test', 'gateway.test:80', '']

/** What is the same for the same request, however often it came. */
function gist({ status, body }: RawResponse): unknown {
  if (status === 200) return body
  const { code, allow } = body === '' ? {} : (JSON.parse(body) as Record<string, unknown>)
  return { status, code, allow }
}

t.test('a request that repeats gets what it gets for the first time', { timeout: 60_000 }, async (t) => {
  const random = createRandom(31)
  const limits = { failures: { limit: 100_000, per: '1s' } }
  const gateway = await startBoth(t, {
    answer: (_request, response, { method, url, headers }) => {
      const { 'x-user-id': id, 'x-user-role': role, 'x-forwarded-host': host } = headers
      response.end(JSON.stringify({ method, url, id, role, host }))
    },
    config: { routes: routes({ auth: 'none' }), limits },
  })
  const [user, admin] = [await gateway.createAccount(), await gateway.createAccount({ role: 'Admin' })]
  const keys = ['', ...[user, admin].map(({ secretKey }) => `SecretKey: ${secretKey}\r\n`)]
  const client = await connectRaw(t, gateway.url)
  const differences: unknown[] = []
  let number = 0
  async function send(text: string): Promise<unknown> {
    return gist(await client.send(`${text}\r\n`).response())
  }
  async function compare(rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      const [key, host] = [random.pick(keys), random.pick(hosts)]
      const fields = `${host === '' ? '' : `Host: ${host}\r\n`}${key}`
      for (let times = random.below(8); times >= 0; times--) {
        const line = `${random.pick(methods)} ${random.pick(targets)} HTTP/1.1\r\n`
        const expected = await send(`${line}${fields}X-Number: ${number++}\r\n`)
        for (let again = random.below(4); again >= 0; again--) {
          const got = await send(line + fields)
          if (JSON.stringify(got) !== JSON.stringify(expected))
            differences.push({ line, fields, expected, got })
        }
      }
    }
  }
  await compare(150)
  for (const open of [
    { auth: 'any' },
    { auth: 'none', stripPrefix: true },
    { auth: 'any', roles: ['Admin'] },
  ]) {
    t.match(await reloadWith(gateway, { routes: routes(open) }), taken)
    await compare(80)
  }
  t.strictSame(differences, [])
  t.ok(number > 1_000, `${number} requests`)
})

t.test('the client of a request that repeats is that of its connection', async (t) => {
  const gateway = await startBoth(t, {
    answer: (_request, response, { headers }) => {
      response.end(String(headers['x-forwarded-for']))
    },
    config: { routes: routes({ auth: 'none' }) },
  })
  const clients = await Promise.all(
    ['127.0.0.1', '127.0.0.2'].map(async (localAddress) => {
      const socket = connect({ host: '127.0.0.1', port: Number(new URL(gateway.url).port), localAddress })
      await once(socket, 'connect')
      t.teardown(() => socket.destroy())
      return [localAddress, new RawClient(socket)] as const
    }),
  )
  for (let round = 0; round < 5; round++) {
    for (const [address, client] of clients) {
      for (let times = 0; times < 3; times++) {
        const { body } = await client.send('GET /open HTTP/1.1\r\nHost: gateway.test\r\n\r\n').response()
        t.equal(body, address)
      }
    }
  }
})
