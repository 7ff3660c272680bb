import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:http2'
import { join } from 'node:path'
import type { Test } from 'tap'
import { leadingFields } from '../gateway/support/leading-fields.ts'
import { openWebSocket, record, startWebSocketBackend } from '../gateway/support/web-socket.ts'
import { startServer } from '../setup/backend.ts'
import { startBoth } from '../setup/both.ts'
import { startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { curl, type FrontKind, startFront } from './run-front.ts'

const route = { upstream: 'backend', auth: 'none', maxBody: 'unlimited' }
const behindFront = {
  trustedProxies: ['127.0.0.1/32'],
  publicUrl: 'https://localhost',
  routes: [
    { ...route, name: 'public', path: '/public' },
    { ...route, name: 'key', path: '/key', auth: 'secretKey' },
    { ...route, name: 'strip', path: '/strip', stripPrefix: true },
    { ...route, name: 'ws', path: '/ws', auth: 'secretKey', websocket: true },
  ],
}

/** Headers by which a client may try to be somebody, or somewhere, else. */
const attacks = [
  ...['For', 'Proto', 'Host', 'Port', 'Prefix', 'Uri', 'Path', 'Method', 'User', 'Email', 'Groups'],
  ...[
    'Preferred-Username',
    'Access-Token',
    'Server',
    'Scheme',
    'Ssl',
    'By',
    'Client-Cert',
    'Tls-Client-Cert',
  ],
]
  .map((name) => `X-Forwarded-${name}`)
  .concat(['X-Forwarded', 'Forwarded', 'X-Real-IP', 'X-Original-URL', 'X-Rewrite-URL', 'X-Request-Id'])
  .concat(['Client-Cert', 'Client-Cert-Chain', 'X-Script-Name', 'X-Sendfile-Type', 'X-Accel-Mapping'])
  .concat(['X-Client-IP', 'X-Cluster-Client-IP', 'True-Client-IP', 'Proxy', 'X-User-Id', 'X-User-Role'])

const spellings = (name: string) => [
  name,
  name.toLowerCase(),
  name.replaceAll('-', '_'),
  name.replaceAll('-', '.'),
]

/** What clients and backends can rely on behind a front, whichever it is. */
export function testFront(t: Test, kind: FrontKind): void {
  for (const version of ['2', '1.1']) {
    t.test(
      `${kind.name}: nothing of what only a proxy may say passes from a client, HTTP/${version}`,
      async (t) => {
        const { backend, gateway } = await startBoth(t, { config: behindFront })
        const front = await startFront(t, kind, gateway)
        const headers = attacks.flatMap(spellings).map((name) => `${name}: forged`)
        // In parts: all at once they are longer than a head may be.
        for (let from = 0; from < headers.length; from += 40) {
          const sent = [...headers.slice(from, from + 40), 'X-Custom: kept']
          const args = [version === '2' ? '--http2' : '--http1.1']
          const answer = await curl(front, '/public/x%20y?a=b%2Fc', { headers: sent, args })
          t.match(answer, { status: 200, version })
          const got = backend.last()
          t.notMatch(JSON.stringify(got.rawHeaders), 'forged')
          t.equal(got.url, '/public/x%20y?a=b%2Fc')
          t.match(got.headers, {
            'x-forwarded-for': '127.0.0.1, 127.0.0.1',
            'x-forwarded-proto': 'https',
            'x-forwarded-host': `localhost:${front.port}`,
            host: `localhost:${front.port}`,
            'x-custom': 'kept',
          })
          t.match(got.headers['x-request-id'], /^[0-9a-f-]{32,36}$/)
          t.equal(answer.headers['x-request-id'], got.headers['x-request-id'])
        }
      },
    )
  }

  t.test(`${kind.name}: an answer of a backend leads to nothing else that the front has`, async (t) => {
    const { backend, gateway } = await startBoth(t, {
      answer: (request, response) => {
        const isHostile = request.url === '/public/hostile'
        response.writeHead(200, isHostile ? leadingFields('/public/elsewhere') : {}).end(request.url)
      },
      config: behindFront,
    })
    const front = await startFront(t, kind, gateway)
    t.match(await curl(front, '/public/hostile'), { status: 200, body: '/public/hostile' })
    t.equal(backend.seen.length, 1)
  })

  t.test(`${kind.name}: a client cannot change its address in log and limits`, async (t) => {
    const gateway = await startGateway(t, {
      config: { ...behindFront, limits: { failures: { limit: 2, per: '1h' } } },
    })
    const front = await startFront(t, kind, gateway)
    const statuses: number[] = []
    for (let turn = 0; turn < 4; turn++) {
      const headers = [`X-Forwarded-For: 203.0.113.${turn}`, `SecretKey: gate_sk_guess${turn}`]
      statuses.push((await curl(front, '/key', { headers })).status)
    }
    t.strictSame(statuses, [401, 401, 429, 429])
    t.notMatch(gateway.logLines.join(''), '203.0.113.')
  })

  t.test(`${kind.name}: a key passes to the gateway, and a redirect to the client`, async (t) => {
    const { backend, gateway } = await startBoth(t, {
      answer: (request, response) => {
        const location = request.url === '/go' ? { Location: `http://${request.headers.host}/there` } : {}
        response.writeHead(request.url === '/go' ? 302 : 200, location).end('ok')
      },
      config: behindFront,
    })
    const front = await startFront(t, kind, gateway)
    const { account, secretKey } = await gateway.createAccount()
    t.match(await curl(front, '/key'), { status: 401, headers: { 'www-authenticate': /SecretKey/ } })
    t.equal((await curl(front, '/key', { headers: [`SecretKey: ${secretKey}`] })).status, 200)
    t.equal(backend.last().headers['x-user-id'], account.id)
    const { status, headers } = await curl(front, '/strip/go')
    t.equal(status, 302)
    t.match(headers.location, new RegExp(`^https?://localhost:${front.port}/strip/there$`))
    for (const path of ['/public/../key', '/public/%2e%2e/key', '/public//x', '/public\\x'])
      t.ok([400, 401, 404].includes((await curl(front, path)).status), path)
  })

  t.test(`${kind.name}: uploads and answers of many megabytes are streamed whole`, async (t) => {
    const digests: string[] = []
    const large = randomBytes(24 * 1_048_576)
    const url = await startServer(t, (request, response) => {
      const hash = createHash('sha256')
      request.on('data', (chunk: Buffer) => hash.update(chunk))
      request.on('end', () => {
        digests.push(hash.digest('hex'))
        response.end(large)
      })
    })
    const gateway = await startGateway(t, { backend: url, config: behindFront })
    const front = await startFront(t, kind, gateway)
    const file = join(t.testdir({}), 'large.bin')
    writeFileSync(file, large)
    const digest = createHash('sha256').update(large).digest('hex')
    for (const args of [['--http2'], ['--http1.1'], ['--http1.1', '-H', 'Transfer-Encoding: chunked']]) {
      const { status, body } = await curl(front, '/public', {
        args: [...args, '-X', 'PUT', '--data-binary', `@${file}`],
      })
      t.equal(status, 200)
      t.equal(createHash('sha256').update(body, 'latin1').digest('hex'), digest)
    }
    t.strictSame(digests, [digest, digest, digest])
  })

  t.test(`${kind.name}: events and uploads pass while they come, and a reload ends neither`, async (t) => {
    const received: string[] = []
    const url = await startServer(t, (request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      response.write('data: begin\n\n')
      request.on('data', (chunk: Buffer) => {
        received.push(chunk.toString())
        response.write(`data: ${chunk.toString()}\n\n`)
      })
      request.on('end', () => response.end('data: end\n\n'))
    })
    const gateway = await startGateway(t, { backend: url, config: behindFront })
    const front = await startFront(t, kind, gateway)
    const session = connect(`https://127.0.0.1:${front.port}`, { ca: front.ca, servername: 'localhost' })
    t.teardown(() => session.destroy())
    const stream = session.request({
      ':method': 'POST',
      ':path': '/public',
      ':authority': `localhost:${front.port}`,
    })
    let events = ''
    stream.on('data', (chunk: Buffer) => {
      events += chunk.toString()
    })
    stream.write('one')
    await until('the first event has come', () => events.includes('data: one'))
    const { caFile, reloaded } = front.renew()
    const isRenewed = () =>
      curl({ ...front, caFile }, '/nowhere').then(
        ({ status }) => status === 404,
        () => false,
      )
    await until('new connections get the new certificate', isRenewed, 20_000)
    stream.write('two')
    await until('the second event has come', () => events.includes('data: two'))
    const ended = once(stream, 'end')
    stream.end()
    await ended
    await reloaded
    t.equal(events, 'data: begin\n\ndata: one\n\ndata: two\n\ndata: end\n\n')
    t.strictSame(received, ['one', 'two'])
  })

  t.test(`${kind.name}: a client that leaves cancels its request at the backend`, async (t) => {
    let closed = 0
    const url = await startServer(t, (_, response) => {
      response.on('close', () => closed++)
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('data: begin\n\n')
    })
    const gateway = await startGateway(t, { backend: url, config: behindFront })
    const front = await startFront(t, kind, gateway)
    for (const leaves of [1, 2]) {
      const session = connect(`https://127.0.0.1:${front.port}`, { ca: front.ca, servername: 'localhost' })
      const stream = session.request({ ':path': '/public', ':authority': `localhost:${front.port}` })
      await once(stream, 'data')
      // One stream of a connection, or the whole of it.
      if (leaves === 1) stream.close(0x8)
      else session.destroy()
      await until('the backend is rid of it', () => closed === leaves)
      t.equal(closed, leaves, 'and of no other')
      session.destroy()
    }
  })

  t.test(`${kind.name}: WebSockets pass with the identity of the caller`, async (t) => {
    const backend = await startWebSocketBackend(t)
    const gateway = await startGateway(t, { backend: backend.url, config: behindFront })
    const front = await startFront(t, kind, gateway)
    const { account, secretKey } = await gateway.createAccount()
    const headers = { SecretKey: secretKey, 'X-User-Id': 'forged', 'X-Forwarded-User': 'forged' }
    const socket = await openWebSocket(t, `${front.url}/ws`, { headers, ca: front.ca })
    const echoed = record(socket)
    socket.send('hello')
    await until('it is echoed', () => echoed.messages.length === 1)
    t.equal(backend.upgrades[0]?.headers['x-user-id'], account.id)
    t.notMatch(JSON.stringify(backend.upgrades[0]?.rawHeaders), 'forged')
    await t.rejects(openWebSocket(t, `${front.url}/ws`, { ca: front.ca }), /401/)
  })
}
