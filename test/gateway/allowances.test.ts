import t from 'tap'
import { startBoth } from '../setup/both.ts'
import { storeDrivers } from '../setup/gateway.ts'
import { freePort, until } from '../setup/net.ts'
import { ask } from './support/ask.ts'

const routes = [
  {
    name: 'limited',
    path: '/limited',
    upstream: 'backend',
    auth: 'any',
    rateLimit: { limit: 10, per: '10s' },
  },
  { name: 'free', path: '/free', upstream: 'backend', auth: 'any' },
  {
    name: 'public',
    path: '/public',
    upstream: 'backend',
    auth: 'none',
    rateLimit: { limit: 2, per: '1h', by: 'ip' },
  },
]
const plans = { small: { quota: { limit: 5, per: 'day' }, rateLimit: { limit: 100, per: '1m' } } }

t.test('an error after a request was counted says what is left too', async (t) => {
  const refusing = `http://127.0.0.1:${await freePort()}`
  const limited = { auth: 'none', rateLimit: { limit: 5, per: '1h', by: 'ip' } }
  const { gateway } = await startBoth(t, {
    config: {
      upstreams: { backend: { targets: [{ url: refusing }] } },
      routes: [
        { name: 'small', path: '/small', upstream: 'backend', maxBody: '1KiB', ...limited },
        { name: 'down', path: '/down', upstream: 'backend', ...limited },
      ],
    },
  })
  for (const [line, lines, status] of [
    ['POST /small', ['Content-Length: 1025'], 413],
    ['GET /down', [], 502],
  ] as const) {
    const { headers, ...answer } = await ask(t, gateway.url, line, lines)
    t.equal(answer.status, status)
    t.equal(headers['ratelimit-policy'], '"rate";q=5;w=3600')
    t.equal(headers['ratelimit-remaining'], '4')
  }
})

t.test('a page for a person says when to come again, as problem+json does', async (t) => {
  const browser = { cookie: true, signIn: true }
  const { gateway } = await startBoth(t, {
    config: {
      portal: { enabled: true },
      accessCookie: { enabled: true },
      routes: [
        {
          ...{ name: 'app', path: '/app', upstream: 'backend', auth: 'any', browser },
          rateLimit: { limit: 1, per: '1h' },
        },
      ],
    },
  })
  const { secretKey } = await gateway.createAccount()
  const get = (accept: string) =>
    ask(t, gateway.url, 'GET /app', [`SecretKey: ${secretKey}`, `Accept: ${accept}`])
  t.equal((await get('text/html')).status, 200)
  for (const accept of ['application/json', 'text/html']) {
    const { status, headers } = await get(accept)
    t.equal(status, 429)
    t.match(headers['content-type'], accept === 'text/html' ? 'text/html' : 'application/problem+json')
    t.match(headers['retry-after'], /^\d+$/)
    t.equal(headers['ratelimit-policy'], '"rate";q=1;w=3600')
    t.equal(headers['ratelimit-remaining'], '0')
  }
})

for (const driver of storeDrivers) {
  t.test(`${driver}: answers say what is left of the rate, the rate of the plan and the quota`, async (t) => {
    const { gateway } = await startBoth(t, { driver, config: { routes, plans } })
    const { secretKey, account } = await gateway.createAccount()
    const key = `SecretKey: ${secretKey}`
    const first = await ask(t, gateway.url, 'GET /limited', [key])
    t.equal(first.headers['ratelimit-policy'], '"rate";q=10;w=10')
    t.match(first.headers.ratelimit, /^"rate";r=9;t=1$/)
    t.equal(first.headers['ratelimit-limit'], '10')
    t.equal(first.headers['ratelimit-remaining'], '9')
    t.equal(first.headers['ratelimit-reset'], '1')

    await gateway.operate(({ accounts }) => accounts.update(account.id, { plan: 'small' }))
    await until('the plan holds', async () =>
      (await ask(t, gateway.url, 'GET /free', [key])).headers['ratelimit-policy']?.includes('quota'),
    )
    const answer = await ask(t, gateway.url, 'GET /limited', [key])
    t.equal(
      answer.headers['ratelimit-policy'],
      '"rate";q=10;w=10, "plan-rate";q=100;w=60, "quota";q=5;w=86400',
    )
    t.match(answer.headers.ratelimit, /^"rate";r=\d;t=\d+, "plan-rate";r=9\d;t=\d, "quota";r=3;t=\d+$/)
    t.equal(answer.headers['ratelimit-limit'], '5', 'that of which least is left')
    t.equal(answer.headers['ratelimit-remaining'], '3')
    const left = []
    for (let turn = 0; turn < 3; turn++)
      left.push((await ask(t, gateway.url, 'GET /free', [key])).headers['ratelimit-remaining'])
    t.strictSame(left, ['2', '1', '0'])
    const refused = await ask(t, gateway.url, 'GET /free', [key])
    t.equal(refused.status, 429)
    t.match(refused.headers['ratelimit-policy'], '"quota";q=5;w=86400')
    t.match(refused.headers.ratelimit, /^"quota";r=0;t=\d+$/)
  })
}

t.test(
  'a route without a rate says nothing, and what a backend says of limits passes there only',
  async (t) => {
    const { gateway } = await startBoth(t, {
      config: { routes },
      answer: (_, response) => {
        response.setHeader('RateLimit', '"theirs";r=1;t=1')
        response.setHeader('X-RateLimit-Remaining', '7')
        response.end('ok')
      },
    })
    const { secretKey } = await gateway.createAccount()
    const key = `SecretKey: ${secretKey}`
    t.equal((await ask(t, gateway.url, 'GET /free', [key])).headers.ratelimit, '"theirs";r=1;t=1')
    for (let turn = 0; turn < 3; turn++) {
      const { headers, head } = await ask(t, gateway.url, 'GET /limited', [key])
      t.match(headers.ratelimit, /^"rate";r=\d;t=\d$/)
      t.equal(head.match(/^ratelimit:/gim)?.length, 1)
      t.equal(headers['x-ratelimit-remaining'], '7')
    }
  },
)

t.test('an anonymous caller is told of the rate of its address, and 429 has the same fields', async (t) => {
  const { gateway } = await startBoth(t, { config: { routes } })
  const answers = []
  for (let turn = 0; turn < 3; turn++) answers.push(await ask(t, gateway.url, 'GET /public'))
  t.strictSame(
    answers.map(({ status, headers }) => [
      status,
      headers['ratelimit-remaining'],
      headers['ratelimit-policy'],
    ]),
    [
      [200, '1', '"rate";q=2;w=3600'],
      [200, '0', '"rate";q=2;w=3600'],
      [429, '0', '"rate";q=2;w=3600'],
    ],
  )
})
