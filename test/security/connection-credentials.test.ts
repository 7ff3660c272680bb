import t, { type Test } from 'tap'
import { headOf, startProxy } from '../gateway/forward/proxies.ts'
import { ask as askHttp2, connectHttp2 } from '../http/h2/ask.ts'
import { startServer } from '../setup/backend.ts'
import { startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { connectRaw, type RawClient } from '../setup/raw-client.ts'
import { nobody, startNtlmBackend } from './support/ntlm-backend.ts'

/** Who the backend takes the caller for. */
async function userOf(client: RawClient, path = '/who', ...lines: readonly string[]): Promise<string> {
  client.send(headOf(`GET ${path} HTTP/1.1`, ...lines))
  return (await client.response()).body
}

/** The three steps of NTLM. */
async function signIn(client: RawClient, name: string): Promise<void> {
  client.send(headOf('GET /private HTTP/1.1'))
  if ((await client.response()).headers['www-authenticate'] !== 'NTLM') throw new Error('it is not asked for')
  client.send(headOf('GET /private HTTP/1.1', 'Authorization: NTLM 1'))
  if ((await client.response()).headers['www-authenticate'] !== 'NTLM 2') throw new Error('no challenge')
  const user = await userOf(client, '/private', `Authorization: NTLM 3 ${name}`)
  if (user !== name) throw new Error(`signed in as ${user}`)
}

async function start(t: Test, upstream: Readonly<Record<string, unknown>> = {}, challenge = 'NTLM') {
  const backend = await startNtlmBackend(t, { challenge })
  const gateway = await startProxy(t, backend.url, { upstream })
  return { backend, url: gateway.url }
}

t.test('NTLM signs in a client connection, and goes on with it, and no stranger gets it', async (t) => {
  const { backend, url } = await start(t)
  const [ada, bob, stranger] = await Promise.all([0, 1, 2].map(() => connectRaw(t, url)))
  if (!ada || !bob || !stranger) throw new Error('not all are connected')
  t.equal(await userOf(stranger), nobody)
  await signIn(ada, 'ada')
  t.equal(await userOf(stranger), nobody, 'right after it')
  await signIn(bob, 'bob')
  for (let turn = 0; turn < 3; turn++) {
    t.equal(await userOf(ada), 'ada')
    t.equal(await userOf(stranger), nobody)
    t.equal(await userOf(bob, '/private'), 'bob')
    t.equal(await userOf(await connectRaw(t, url)), nobody, 'a new client')
  }
  t.ok(backend.sockets.length <= 4, 'each has one connection, and strangers share')
})

t.test('a signed-in upstream connection closes with its client connection', async (t) => {
  const { backend, url } = await start(t)
  const ada = await connectRaw(t, url)
  await signIn(ada, 'ada')
  const signedIn = backend.sockets.at(-1)
  ada.close()
  await until('it is closed', () => signedIn?.closed || undefined)
  t.equal(await userOf(await connectRaw(t, url)), nobody)
})

for (const lines of [
  ['Authorization: NTLM 3 eve'],
  ['authorization: ntlm 3 eve'],
  ['AUTHORIZATION:  nTlM 3 eve'],
  ['Authorization: Negotiate eve'],
  ['Authorization: NEGOTIATE eve'],
  ['Authorization: Basic eA==, NTLM 3 eve'],
  ['Authorization: Basic eA==,negotiate eve'],
  ['Authorization: Basic eA==', 'Authorization: NTLM 3 eve'],
  ['Authorization: Bearer x', 'Authorization: Negotiate eve'],
  ['Authorization: , Negotiate eve'],
]) {
  t.test(`whom ${lines.join(' and ')} signs in is nobody else`, async (t) => {
    const { url } = await start(t)
    const eve = await connectRaw(t, url)
    t.equal(await userOf(eve, '/who', ...lines), 'eve')
    t.equal(await userOf(await connectRaw(t, url)), nobody)
    t.equal(await userOf(eve), 'eve')
    const body = ['Content-Length: 2', 'Expect: 100-continue']
    eve.send(`${headOf('POST /who HTTP/1.1', ...lines, ...body)}ok`)
    t.ok((await eve.response()).status < 300)
    t.equal(await userOf(await connectRaw(t, url)), nobody, 'after a request that ends its connection')
  })
}

for (const challenge of ['NTLM', 'Negotiate', 'Basic realm="x", nTLM', 'Basic realm="x",negotiate']) {
  t.test(`a connection on which ${challenge} was offered serves its client alone`, async (t) => {
    const { backend, url } = await start(t, {}, challenge)
    const [first, second] = [await connectRaw(t, url), await connectRaw(t, url)]
    await userOf(first, '/private')
    await userOf(second, '/other')
    await userOf(first, '/again')
    t.strictSame(backend.seen, ['/private 0', '/other 1', '/again 0'])
  })
}

t.test('a challenge in its Proxy form, or in one of several lines, counts too', async (t) => {
  const connections: unknown[] = []
  const backend = await startServer(t, (request, response) => {
    if (!connections.includes(request.socket)) connections.push(request.socket)
    const name = request.url === '/407' ? 'Proxy-Authenticate' : 'WWW-Authenticate'
    const isChallenge = request.url !== '/other'
    response.writeHead(isChallenge ? 401 : 200, isChallenge ? { [name]: ['Basic realm="x"', 'NTLM'] } : {})
    response.end(String(connections.indexOf(request.socket)))
  })
  const { url } = await startProxy(t, backend)
  for (const [path, own] of [
    ['/407', '0'],
    ['/401', '1'],
  ] as const) {
    const client = await connectRaw(t, url)
    // The same answer again and again, as its head is then known.
    for (let turn = 0; turn < 4; turn++) t.equal(await userOf(client, path), own)
    t.not(await userOf(await connectRaw(t, url), '/other'), own)
  }
})

t.test('another scheme shares its connection as before', async (t) => {
  const { backend, url } = await start(t)
  for (const line of [
    'Basic eA==',
    'Bearer ntlm',
    'AWS4-HMAC-SHA256 Credential=a, NotNTLM=b',
    'Digest a="b"',
  ])
    t.equal(await userOf(await connectRaw(t, url), '/who', `Authorization: ${line}`), nobody)
  t.equal(backend.sockets.length, 1)
})

t.test('over HTTP/2 each such request has an upstream connection of its own', async (t) => {
  const { backend, url } = await start(t)
  const session = await connectHttp2(t, url)
  for (const authorization of ['NTLM 3 eve', 'Negotiate eve']) {
    t.equal((await askHttp2(session, '/who', { headers: { authorization } })).body, 'eve')
    t.equal((await askHttp2(session, '/who')).body, nobody)
    t.equal(await userOf(await connectRaw(t, url)), nobody)
  }
  await until(
    'both are closed',
    () => backend.sockets.filter(({ closed }) => closed).length === 2 || undefined,
  )
  t.equal((await askHttp2(session, '/private')).status, 401)
  t.equal((await askHttp2(session, '/other')).body, nobody)
  const connectionOf = (path: string) => backend.seen.find((one) => one.startsWith(path))?.split(' ')[1]
  t.not(connectionOf('/other'), connectionOf('/private'))
})

t.test('with an upstream of HTTP/2 nobody gets whom a connection was signed in as', async (t) => {
  const backend = await startNtlmBackend(t, { isHttp2: true })
  const { url } = await startProxy(t, backend.url, { upstream: { protocol: 'http2' } })
  const session = await connectHttp2(t, url)
  const client = await connectRaw(t, url)
  for (let turn = 0; turn < 3; turn++) {
    t.equal(await userOf(client, '/who', 'Authorization: Negotiate eve'), 'eve')
    const headers = { authorization: 'NTLM 3 eve' }
    const answers = await Promise.all([
      askHttp2(session, '/who', { headers }),
      ...Array.from({ length: 5 }, () => askHttp2(session, '/who')),
    ])
    t.strictSame(
      answers.map(({ body }) => body),
      ['eve', ...Array(5).fill(nobody)],
    )
    t.equal(await userOf(client), nobody)
  }
  const isClosed = () => backend.sockets.filter(({ closed }) => closed).length === 6 || undefined
  await until('their connections are closed', isClosed)
  t.equal((await askHttp2(session, '/private')).status, 401)
  await askHttp2(session, '/next')
  const last = backend.seen.slice(-2).map((one) => one.split(' ')[1])
  t.not(last[0], last[1], 'one that has offered NTLM gets no more requests')
})

t.test('another account on the same client connection is another caller', async (t) => {
  const backend = await startNtlmBackend(t)
  const gateway = await startGateway(t, {
    config: {
      upstreams: { backend: { targets: [{ url: backend.url }] } },
      routes: [{ name: 'all', path: '/', upstream: 'backend', auth: 'any', forwardCredentials: true }],
    },
  })
  const [ada, bob] = [await gateway.createAccount(), await gateway.createAccount()]
  const client = await connectRaw(t, gateway.url)
  const keyOf = (account: typeof ada) => `SecretKey: ${account.secretKey}`
  t.equal(await userOf(client, '/who', keyOf(ada), 'Authorization: NTLM 3 ada'), 'ada')
  t.equal(await userOf(client, '/who', keyOf(ada)), 'ada')
  t.equal(await userOf(client, '/who', keyOf(bob)), nobody)
  t.equal(await userOf(client, '/who', keyOf(ada)), nobody, 'it was closed')
})

t.test('on the connection of a trusted proxy, which many share, each such request is alone', async (t) => {
  const backend = await startNtlmBackend(t)
  const { url } = await startProxy(t, backend.url, { config: { trustedProxies: ['127.0.0.1'] } })
  const proxy = await connectRaw(t, url)
  const from = (address: string) => `X-Forwarded-For: ${address}`
  t.equal(await userOf(proxy, '/who', from('203.0.113.1'), 'Authorization: NTLM 3 eve'), 'eve')
  for (const address of ['203.0.113.1', '203.0.113.2'])
    t.equal(await userOf(proxy, '/who', from(address)), nobody)
})

t.test('connections that wait for their clients make room for whoever needs one', async (t) => {
  const { backend, url } = await start(t, { connections: 2 })
  const signedIn = await Promise.all(
    ['ada', 'bob', 'cyd'].map(async (name) => {
      const client = await connectRaw(t, url)
      t.equal(await userOf(client, '/who', `Authorization: NTLM 3 ${name}`), name)
      return { name, client }
    }),
  )
  t.equal(await userOf(await connectRaw(t, url)), nobody)
  const open = () => backend.sockets.filter(({ closed }) => !closed).length
  await until('no more than two are open', () => open() <= 2 || undefined)
  for (const { name, client } of signedIn) t.ok([name, nobody].includes(await userOf(client)))
})

t.test('a handshake goes on at the target where it has begun', async (t) => {
  const backends = [await startNtlmBackend(t), await startNtlmBackend(t), await startNtlmBackend(t)]
  const { url } = await startProxy(t, '', {
    upstream: { targets: backends.map((one) => ({ url: one.url })) },
  })
  const clients = await Promise.all(
    ['ada', 'bob', 'cyd', 'dan'].map(async (name) => ({ name, client: await connectRaw(t, url) })),
  )
  await Promise.all(clients.map(({ name, client }) => signIn(client, name)))
  for (const { name, client } of [...clients, ...clients]) t.equal(await userOf(client), name)
  t.equal(await userOf(await connectRaw(t, url)), nobody)
})

t.test('a request that is repeated as its connection was lost is one of nobody', async (t) => {
  const { backend, url } = await start(t)
  const ada = await connectRaw(t, url)
  await signIn(ada, 'ada')
  for (const socket of backend.sockets) socket.destroy()
  t.equal(await userOf(ada), nobody)
  await signIn(ada, 'ada')
  t.equal(await userOf(await connectRaw(t, url)), nobody)
})

t.test('a refused upgrade leaves no signed-in connection behind', async (t) => {
  const backend = await startNtlmBackend(t)
  const { url } = await startProxy(t, backend.url, { route: { websocket: true } })
  const client = await connectRaw(t, url)
  const upgrade = [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AQIDBAUGBwgJCgsMDQ4PEA==',
  ]
  client.send(headOf('GET /who HTTP/1.1', 'Authorization: NTLM 3 eve', ...upgrade))
  await client.response()
  for (let turn = 0; turn < 3; turn++) t.equal(await userOf(await connectRaw(t, url)), nobody)
  await until('it is closed', () => backend.sockets[0]?.closed || undefined)
})

t.test('an answer that comes before the whole request leaves no signed-in connection behind', async (t) => {
  const { backend, url } = await start(t)
  const client = await connectRaw(t, url)
  client.send(headOf('POST /private HTTP/1.1', 'Content-Length: 5', 'Authorization: NTLM 1'))
  t.equal((await client.response()).status, 401)
  client.send('hello')
  t.equal(await userOf(await connectRaw(t, url)), nobody)
  await until('it is closed', () => backend.sockets[0]?.closed || undefined)
})
