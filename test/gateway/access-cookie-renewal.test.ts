import t, { type Test } from 'tap'
import { startBoth } from '../setup/both.ts'
import { type StoreDriver, storeDrivers } from '../setup/gateway.ts'
import type { RawResponse } from '../setup/raw-client.ts'
import { accessTokenPath, ask, askJson, cookieOf, revokeTokenPath } from './support/ask.ts'
import { upgradeLines } from './support/web-socket.ts'

const minute = 60_000

/** A gateway with the cookie, whose clock the test moves on, and somebody who is signed in. */
async function start(t: Test, { driver = 'sqlite' as StoreDriver, config = {} } = {}) {
  let shiftMs = 0
  const { gateway, backend } = await startBoth(t, {
    driver,
    clock: () => Date.now() + shiftMs,
    answer: (request, response) => {
      for (const name of ['cache-control', 'expires'])
        if (request.headers[`x-${name}`]) response.setHeader(name, String(request.headers[`x-${name}`]))
      response.end('ok')
    },
    config: {
      accessCookie: { enabled: true },
      routes: [
        {
          name: 'app',
          path: '/app',
          upstream: 'backend',
          auth: 'any',
          websocket: true,
          browser: { cookie: true },
        },
      ],
      ...config,
    },
  })
  const { secretKey, apiKey } = await gateway.createAccount()
  const signedIn = await askJson(t, gateway.url, accessTokenPath, { SecretKey: secretKey, APIKey: apiKey })
  const send = (cookie: string, headers: readonly string[] = []) =>
    ask(t, gateway.url, 'GET /app', [
      `Cookie: accessToken=${cookie}`,
      'Sec-Fetch-Site: same-origin',
      ...headers,
    ])
  return {
    gateway,
    backend,
    signedIn,
    first: renewed(signedIn) ?? '',
    send,
    moveOn: (ms: number) => {
      shiftMs += ms
    },
  }
}

/** The access cookie that a response sets. */
const renewed = ({ headers }: RawResponse) => headers['set-cookie']?.match(/^accessToken=([^;]+);/m)?.[1]
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())

for (const driver of storeDrivers) {
  t.test(
    `${driver}: requests in the second half of its life renew the cookie, over several lives`,
    async (t) => {
      const { first, send, moveOn } = await start(t, { driver })
      t.equal(claimsOf(first).exp - claimsOf(first).iat, 3_600)
      t.equal(renewed(await send(first)), undefined, 'too early')
      moveOn(29 * minute)
      t.equal(renewed(await send(first)), undefined, 'still too early')
      let cookie = first
      for (let life = 0; life < 6; life++) {
        moveOn(life === 0 ? 2 * minute : 31 * minute)
        const answers = await Promise.all([send(cookie), send(cookie), send(cookie)])
        t.strictSame(
          answers.map(({ status }) => status),
          [200, 200, 200],
        )
        const tokens = new Set(answers.map(renewed))
        t.equal(tokens.size, 1, 'parallel requests renew once')
        const [next] = tokens
        t.not(next, undefined)
        t.match(
          answers[0]?.headers['set-cookie'],
          /^accessToken=[^;]+; Max-Age=3600; Path=\/; HttpOnly; SameSite=Strict$/,
        )
        t.equal(renewed(await send(cookie)), next, 'who still sends the previous one gets the same')
        t.equal(claimsOf(next ?? '').sid, claimsOf(first).sid)
        cookie = next ?? ''
        t.equal(renewed(await send(cookie)), undefined)
      }
      t.equal((await send(first)).status, 401, 'the first has expired')
    },
  )

  t.test(`${driver}: signing out ends it at once, and nothing is renewed after that`, async (t) => {
    const { gateway, first, signedIn, send, moveOn } = await start(t, { driver })
    moveOn(31 * minute)
    const next = renewed(await send(first)) ?? ''
    const refreshToken = cookieOf(signedIn) ?? ''
    await ask(t, gateway.url, `POST ${revokeTokenPath}`, [`Cookie: refreshToken=${refreshToken}`])
    for (const cookie of [first, next]) {
      const answer = await send(cookie)
      t.equal(answer.status, 401)
      t.equal(answer.headers['set-cookie'], undefined)
    }
  })
}

t.test('the cookie ends with the session, and is not renewed beyond it', async (t) => {
  for (const tokens of [{ refreshLifetime: '2h' }]) {
    const { first, send, moveOn } = await start(t, { config: { tokens } })
    const endsAt = claimsOf(first).iat + 7_200
    moveOn(45 * minute)
    const second = renewed(await send(first)) ?? ''
    t.ok(claimsOf(second).exp < endsAt)
    moveOn(45 * minute)
    const last = renewed(await send(second)) ?? ''
    t.ok(Math.abs(claimsOf(last).exp - endsAt) <= 1, JSON.stringify(tokens))
    moveOn(29 * minute)
    const answer = await send(last)
    t.equal(answer.status, 200)
    t.equal(renewed(answer), undefined)
    moveOn(2 * minute)
    t.equal((await send(last)).status, 401)
  }
})

t.test('a response that a cache may give to others renews nothing', async (t) => {
  const { first, send, moveOn } = await start(t)
  moveOn(31 * minute)
  for (const [field, isRenewed] of [
    ['X-Cache-Control: public, max-age=60', false],
    ['X-Cache-Control: max-age=60', false],
    ['X-Expires: Thu, 01 Jan 2099 00:00:00 GMT', false],
    ['X-Cache-Control: private, max-age=60', true],
    ['X-Cache-Control: no-store', true],
    ['X-None: 1', true],
  ] as const)
    t.equal(renewed(await send(first, [field])) !== undefined, isRenewed, field)
})

t.test('an upgrade renews it too; a token in Authorization, and a foreign page, do not', async (t) => {
  const { gateway, first, send, moveOn } = await start(t)
  moveOn(31 * minute)
  const bearer = await ask(t, gateway.url, 'GET /app', [`Authorization: Bearer ${first}`])
  t.equal(bearer.status, 200)
  t.equal(bearer.headers['set-cookie'], undefined)
  const foreign = await ask(t, gateway.url, 'GET /app', [
    `Cookie: accessToken=${first}`,
    'Sec-Fetch-Site: cross-site',
  ])
  t.equal(foreign.status, 401)
  t.equal(foreign.headers['set-cookie'], undefined)
  const own = ['Sec-Fetch-Site: same-origin', `Cookie: accessToken=${first}`]
  const upgrade = await ask(t, gateway.url, 'GET /app', [...upgradeLines, ...own])
  t.equal(upgrade.status, 200, 'the backend answers without an upgrade')
  t.not(renewed(upgrade), undefined)
  t.not(renewed(await send(first)), undefined)
})

t.test('its lifetime is an option', async (t) => {
  const { first, send, moveOn } = await start(t, {
    config: { accessCookie: { enabled: true, lifetime: '4s' } },
  })
  t.equal(claimsOf(first).exp - claimsOf(first).iat, 4)
  moveOn(3_000)
  t.not(renewed(await send(first)), undefined)
})
