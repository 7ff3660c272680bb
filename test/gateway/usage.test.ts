import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import t, { type Test } from 'tap'
import { dayOf, formatDay } from '#platform/time.ts'
import { run } from '../cli/run.ts'
import { type StoreDriver, startGateway, storeDrivers, type TestGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'

// slow: every way in which usage is counted, on both stores

type Answer = (response: ServerResponse) => void

/** A backend whose answer is set by the test. */
async function start(t: Test, driver: StoreDriver) {
  const state: { answer: Answer } = { answer: (response) => void response.end('ok') }
  const server = createServer((request, response) => {
    request.resume()
    state.answer(response)
  })
  server.on('upgrade', (_request, socket) => {
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\nX-Cost: 9\r\n\r\n',
    )
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const route = { upstream: 'backend', auth: 'any', costHeader: 'X-Cost' }
  const gateway = await startGateway(t, {
    driver,
    config: {
      upstreams: {
        backend: { targets: [{ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }] },
      },
      routes: [
        { ...route, name: 'cost', path: '/cost', websocket: true },
        { name: 'plain', path: '/plain', upstream: 'backend', auth: 'any' },
        { name: 'admins', path: '/admins', upstream: 'backend', auth: 'any', roles: ['Admin'] },
        { name: 'open', path: '/open', upstream: 'backend', auth: 'optional' },
      ],
    },
  })
  return { gateway, state }
}

/** What a request to /cost gets, byte for byte, until the connection ends or it has switched protocols. */
function wireOf(t: Test, url: string, secretKey: string, fields: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  t.teardown(() => socket.destroy())
  const lines = ['GET /cost HTTP/1.1', 'Host: gateway.test', `SecretKey: ${secretKey}`, ...fields]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  let received = ''
  return new Promise((resolve, reject) => {
    socket.on('data', (data) => {
      received += data.toString()
      if (received.startsWith('HTTP/1.1 101') && received.endsWith('\r\n\r\n')) resolve(received)
    })
    socket.on('end', () => resolve(received))
    socket.on('close', () => resolve(received))
    socket.on('error', reject)
  })
}

const upgradeFields = [
  'Upgrade: websocket',
  'Connection: upgrade',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
]

const today = dayOf(Date.now())
/** Midnight of UTC may come during the test. */
const wide = { from: today - 1, to: today + 1 }

function usageOf(gateway: TestGateway, accountId: string): Promise<readonly string[]> {
  return gateway.operate(async ({ usage }) =>
    (await usage.read(accountId, wide)).map(
      ({ key, route, requests, units }) => `${key} ${route} ${requests}/${units}`,
    ),
  )
}

function untilUsed(gateway: TestGateway, accountId: string, expected: readonly string[]): Promise<true> {
  return until(`the usage is ${expected.join(', ')}`, async () => {
    const found = await usageOf(gateway, accountId)
    return JSON.stringify(found) === JSON.stringify(expected) || undefined
  })
}

for (const driver of storeDrivers) {
  t.test(`usage of routes on ${driver}`, async (t) => {
    const { gateway, state } = await start(t, driver)
    const call = async (path: string, headers: Record<string, string>, init: RequestInit = {}) => {
      const response = await fetch(gateway.url + path, { ...init, headers })
      await response.text()
      return response
    }

    t.test('forwarded requests of a caller count, refused and anonymous ones do not', async (t) => {
      const created = await gateway.createAccount()
      const { account, secretKey } = created
      const { JwtToken } = await gateway.tokens(created)
      for (const headers of [{ SecretKey: secretKey }, { Authorization: `Bearer ${JwtToken}` }]) {
        t.equal((await call('/plain', headers)).status, 200)
        t.equal((await call('/admins', headers)).status, 403)
        t.equal((await call('/nowhere', headers)).status, 404)
      }
      t.equal((await call('/open', {})).status, 200)
      t.equal((await call('/open', { SecretKey: secretKey })).status, 200)
      await untilUsed(gateway, account.id, ['default open 1/1', 'default plain 2/2'])
    })

    t.test('the cost field of an answer counts as units and never reaches the client', async (t) => {
      const { account, secretKey } = await gateway.createAccount()
      let units = 0
      let requests = 0
      const cases: readonly (readonly [string[] | string, number])[] = [
        ['0', 0],
        ['1', 1],
        ['250', 250],
        ['1000000000', 1_000_000_000],
        ['1000000001', 1],
        ['007', 7],
        ['', 1],
        ['-5', 1],
        ['1.5', 1],
        ['1e3', 1],
        ['0x10', 1],
        ['many', 1],
        ['9'.repeat(400), 1],
        [['3', '4'], 4],
        [['3', 'x'], 1],
        ['3, 5', 5],
      ]
      for (const status of [200, 404, 304, 503]) {
        for (const [value, expected] of cases) {
          state.answer = (response) => {
            response.statusCode = status
            response.setHeader('x-cost', value)
            response.setHeader('X_Cost', 'alias')
            response.setHeader('X-Kept', 'kept')
            response.end()
          }
          const response = await call('/cost', { SecretKey: secretKey })
          t.equal(response.status, status)
          t.strictSame(
            [...response.headers.keys()].filter((name) => /cost/i.test(name)),
            [],
          )
          t.equal(response.headers.get('x-kept'), 'kept')
          requests++
          units += expected
        }
      }
      await untilUsed(gateway, account.id, [`default cost ${requests}/${units}`])
    })

    t.test('the cost may come as a trailer, and the head goes before it', async (t) => {
      const { account, secretKey } = await gateway.createAccount()
      for (const head of [undefined, '3']) {
        state.answer = (response) => {
          if (head !== undefined) response.setHeader('X-Cost', head)
          response.setHeader('Trailer', 'X-Cost')
          response.write('tokens')
          response.addTrailers({ 'X-Cost': '42' })
          response.end()
        }
        t.equal((await call('/cost', { SecretKey: secretKey })).status, 200)
      }
      await untilUsed(gateway, account.id, ['default cost 2/45'])
    })

    t.test('no response of any kind shows the cost or announces it', async (t) => {
      const { account, secretKey } = await gateway.createAccount()
      const shownTo = (answer: Answer) => {
        state.answer = answer
        return wireOf(t, gateway.url, secretKey, ['Connection: close'])
      }
      for (const [announced, shown] of [
        ['X-Cost', undefined],
        ['x_cost', undefined],
        ['X-Cost, X-Checksum', 'X-Checksum'],
        ['X-First,X-Cost , X-Checksum', 'X-First, X-Checksum'],
        ['X-Checksum', 'X-Checksum'],
      ] as const) {
        const text = await shownTo((response) => {
          response.setHeader('Trailer', announced)
          response.write('tokens')
          response.addTrailers({ 'X-Cost': '42', 'X-Checksum': 'abc' })
          response.end()
        })
        t.notMatch(text, /x.cost/i, announced)
        t.match(text, /\r\nX-Checksum: abc\r\n/i, announced)
        if (shown === undefined) t.notMatch(text, /^trailer/im, announced)
        else t.match(text, new RegExp(`^Trailer: ${shown}\r$`, 'im'), announced)
      }
      const hinted = await shownTo((response) => {
        response.writeEarlyHints({ link: '</a.css>; rel=preload', 'X-Cost': '7' })
        response.setHeader('X-Cost', '8')
        response.end('ok')
      })
      t.match(hinted, /^HTTP\/1.1 103 [\s\S]*a\.css[\s\S]*\r\nHTTP\/1.1 200 /)
      t.notMatch(hinted, /x.cost/i)
      const upgraded = await wireOf(t, gateway.url, secretKey, upgradeFields)
      t.match(upgraded, /^HTTP\/1.1 101 /)
      t.notMatch(upgraded, /x.cost/i)
      await untilUsed(gateway, account.id, [`default cost 7/${5 * 42 + 8 + 9}`])
    })

    t.test('a request without an answer is one unit', async (t) => {
      const { account, secretKey } = await gateway.createAccount()
      state.answer = (response) => void response.socket?.destroy()
      t.equal((await call('/cost', { SecretKey: secretKey }, { method: 'POST', body: 'x' })).status, 502)
      state.answer = () => {}
      const leaving = AbortSignal.timeout(50)
      await call('/cost', { SecretKey: secretKey }, { signal: leaving }).catch(() => {})
      state.answer = (response) => void response.end('ok')
      await untilUsed(gateway, account.id, ['default cost 2/2'])
    })

    t.test('without costHeader the field is of the backend, and passes', async (t) => {
      const { account, secretKey } = await gateway.createAccount()
      state.answer = (response) => void response.setHeader('X-Cost', '9').end()
      t.equal((await call('/plain', { SecretKey: secretKey })).headers.get('x-cost'), '9')
      await untilUsed(gateway, account.id, ['default plain 1/1'])
    })

    t.test('an account sees its own usage, an Admin that of any', async (t) => {
      state.answer = (response) => void response.setHeader('X-Cost', '5').end()
      const ada = await gateway.createAccount()
      const admin = await gateway.createAccount({ role: 'Admin' })
      await call('/cost', { SecretKey: ada.secretKey })
      await untilUsed(gateway, ada.account.id, ['default cost 1/5'])
      const today = formatDay(dayOf(Date.now()))
      const { JwtToken } = await gateway.tokens(ada)
      const ask = async (path: string, headers: Record<string, string>) => {
        const response = await fetch(gateway.url + path, { headers })
        return {
          status: response.status,
          body: await response.json(),
          cache: response.headers.get('cache-control'),
        }
      }
      const used = [{ key: 'default', route: 'cost', requests: 1, units: 5 }]
      const days = [{ day: today, requests: 1, units: 5, used }]
      const own = '/api/v1/accounts/usage'
      const ofAda = `/api/v1/admin/accounts/${ada.account.id}/usage`
      for (const [path, headers] of [
        [own, { SecretKey: ada.secretKey }],
        [own, { Authorization: `Bearer ${JwtToken}` }],
        [ofAda, { SecretKey: admin.secretKey }],
      ] as const) {
        t.strictSame(await ask(path, headers), {
          status: 200,
          body: { plan: null, keyQuotas: [], from: `${today.slice(0, 8)}01`, to: today, days },
          cache: 'no-store',
        })
      }
      const empty = await ask(`${own}?from=2020-01-01&to=2020-01-31`, { SecretKey: ada.secretKey })
      t.strictSame(empty.body, { plan: null, keyQuotas: [], from: '2020-01-01', to: '2020-01-31', days: [] })
      t.equal((await ask(own, {})).status, 401)
      t.equal((await ask(ofAda, { SecretKey: ada.secretKey })).status, 403)
      t.equal((await ask('/api/v1/admin/accounts/nobody/usage', { SecretKey: admin.secretKey })).status, 404)
      t.equal(
        (await ask(`${own}?from=2025-10-19&to=2026-11-23`, { SecretKey: ada.secretKey })).status,
        200,
        '400 days',
      )
      for (const [query, field] of [
        ['from=yesterday', 'from'],
        ['to=2026-02-30', 'to'],
        ['from=2026-11-23T00:00', 'from'],
        ['from=2026-03-01&to=2026-02-01', 'from'],
        ['from=2025-10-18&to=2026-11-23', 'from'],
        ['form=2026-11-01', 'form'],
      ] as const) {
        const refused = await ask(`${own}?${query}`, { SecretKey: ada.secretKey })
        t.match(refused, { status: 400, body: { code: 'request-invalid', errors: [{ field }] } }, query)
      }
    })

    t.test('the commands show the usage of one account and export that of all', async (t) => {
      state.answer = (response) => void response.end('ok')
      const gatehouse = (...args: readonly string[]) => run(t, [...args, '--config', gateway.configFile])
      const { account, secretKey } = await gateway.createAccount()
      await call('/plain', { SecretKey: secretKey })
      await untilUsed(gateway, account.id, ['default plain 1/1'])
      const day = formatDay(dayOf(Date.now()))
      const shown = await gatehouse('usage', account.email)
      t.equal(shown.status, 0)
      t.match(shown.stdout, new RegExp(`DAY +KEY +ROUTE +REQUESTS +UNITS\\n${day} +default +plain +1 +1\\n`))
      const json = await gatehouse('usage', account.id, '--json', '--from', day, '--to', day)
      const used = [{ key: 'default', route: 'plain', requests: 1, units: 1 }]
      t.strictSame(json.json(), {
        plan: null,
        keyQuotas: [],
        from: day,
        to: day,
        days: [{ day, requests: 1, units: 1, used }],
      })
      const none = await gatehouse('usage', account.id, '--from', '2020-01-01', '--to', '2020-01-01')
      t.match(none, { status: 0, stdout: 'No requests on these days.\n' })
      const csv = await gatehouse('usage', 'export')
      t.equal(csv.stdout.split('\r\n')[0], 'accountId,email,day,key,route,requests,units')
      t.ok(csv.stdout.includes(`\r\n${account.id},${account.email},${day},default,plain,1,1\r\n`))
      const lines = (await gatehouse('usage', 'export', '--json', '--from', day, '--to', day)).stdout
        .trim()
        .split('\n')
      t.ok(lines.length > 3, 'several accounts')
      t.strictSame(
        lines
          .map((line: string) => JSON.parse(line) as { accountId: string })
          .find(({ accountId }) => accountId === account.id),
        {
          accountId: account.id,
          email: account.email,
          day,
          key: 'default',
          route: 'plain',
          requests: 1,
          units: 1,
        },
      )
      for (const args of [
        ['usage', account.id, '--from', 'yesterday'],
        ['usage', account.id, '--to', '2026-13-01'],
        ['usage', 'export', '--from', '20261101'],
      ]) {
        t.match(
          await gatehouse(...args),
          { status: 2, stderr: /must be a day such as 2026-11-23/ },
          args.join(' '),
        )
      }
      t.match(await gatehouse('usage', 'nobody@example.com'), { status: 1 })
      t.match(await gatehouse('usage'), { status: 2 })
    })
  })

  t.test(`usage is written before the gateway ends, on ${driver}`, async (t) => {
    const { gateway } = await start(t, driver)
    const { account, secretKey } = await gateway.createAccount()
    for (let count = 0; count < 5; count++)
      await (await fetch(`${gateway.url}/plain`, { headers: { SecretKey: secretKey } })).text()
    await gateway.shutDown()
    t.strictSame(await usageOf(gateway, account.id), ['default plain 5/5'])
  })
}
