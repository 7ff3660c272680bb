import t, { type Test } from 'tap'
import { ask } from '../gateway/support/ask.ts'
import { assertProblem } from '../gateway/support/problem.ts'
import { upgradeLines } from '../gateway/support/web-socket.ts'
import { startBoth } from '../setup/both.ts'

const listed = 'https://app.example.com'
const ownOrigin = 'Origin: http://gateway.test'
const site = (value: string) => `Sec-Fetch-Site: ${value}`

/** What browsers send with a form or script of a page that is not the gateway's, and that no list names. */
const foreign = [
  ['Origin: https://evil.example', site('cross-site')],
  ['Origin: null', site('cross-site')],
  [site('cross-site')],
  [site('same-site')],
  [site('odd')],
  [site('same-origin'), site('same-origin')],
  [ownOrigin, site('cross-site')],
  ['Origin: https://evil.example'],
  ['Origin: null'],
  ['Origin: https://gateway.test'],
  ['Origin: http://gateway.test.evil.example'],
  [ownOrigin, ownOrigin],
] as const

/** What programs send, and browsers with the gateway's own pages or for an address that was typed. */
const ours = [
  [],
  [site('same-origin')],
  [site('none')],
  [ownOrigin],
  [ownOrigin, site('same-origin')],
  ['Origin: https://public.example.com'],
  ['Referer: https://evil.example/'],
] as const

const basicOf = (key: string) => `Authorization: Basic ${Buffer.from(`x:${key}`).toString('base64')}`
const refused = { status: 403, code: 'cross-site-request' }

/** A gateway that takes keys by Basic, with pages of another origin that it allows. */
async function start(t: Test) {
  const route = { upstream: 'backend', auth: 'any' }
  return startBoth(t, {
    config: {
      publicUrl: 'https://public.example.com',
      keys: { sealingKey: { file: 'sealing.key' }, accept: ['SecretKey', 'bearer', 'basic'] },
      cors: { origins: [listed] },
      routes: [
        { ...route, name: 'any', path: '/any', websocket: true },
        { ...route, name: 'optional', path: '/optional', auth: 'optional' },
        { ...route, name: 'public', path: '/public', auth: 'none' },
      ],
    },
  })
}

t.test('a page of another origin cannot use the admin API with a key that the browser adds', async (t) => {
  const { gateway } = await start(t)
  const admin = await gateway.createAccount({ role: 'Admin' })
  const user = await gateway.createAccount()
  const { id } = user.account
  const accounts = '/api/v1/admin/accounts'
  const basic = basicOf(admin.secretKey)

  for (const headers of [...foreign, [`Origin: ${listed}`, site('cross-site')]]) {
    for (const line of [
      `POST ${accounts}/${id}/api-key`,
      `POST ${accounts}/${id}/secret-key`,
      `DELETE ${accounts}/${id}`,
    ]) {
      const response = await ask(t, gateway.url, line, [basic, ...headers], '')
      assertProblem(t, response, refused)
      t.match(response.json().detail, /Authorization: Basic/)
    }
  }
  t.ok((await gateway.tokens(user)).JwtToken, 'its keys are what they were')

  for (const headers of ours) {
    const response = await ask(t, gateway.url, `POST ${accounts}/${id}/api-key`, [basic, ...headers])
    t.equal(response.status, 200, headers.join())
  }
  for (const credential of [`SecretKey: ${admin.secretKey}`, `Authorization: Bearer ${admin.secretKey}`]) {
    const headers = [credential, `Origin: ${listed}`, site('cross-site')]
    const response = await ask(t, gateway.url, `POST ${accounts}/${id}/api-key`, headers)
    t.equal(response.status, 200, 'no browser adds it')
  }
})

t.test('a page of another origin changes nothing on routes with a key that the browser adds', async (t) => {
  const { backend, gateway } = await start(t)
  const user = await gateway.createAccount()
  const basic = basicOf(user.secretKey)
  const send = (line: string, headers: readonly string[]) => ask(t, gateway.url, line, [basic, ...headers])

  for (const headers of foreign) {
    for (const line of ['POST /any/x', 'PUT /any/x', 'DELETE /optional/x'])
      assertProblem(t, await send(line, headers), refused)
    assertProblem(t, await send('GET /any/x', [...headers, ...upgradeLines]), refused)
    assertProblem(t, await send('GET /any/x', [...headers, 'Sec-WebSocket-Key: x']), refused)
  }
  t.equal(backend.seen.length, 0, 'none of them has reached the backend')

  for (const headers of [...ours, [`Origin: ${listed}`, site('cross-site')]]) {
    t.equal((await send('POST /any/x', headers)).status, 200, headers.join())
    t.equal((await send('GET /any/x', [...headers, 'Sec-WebSocket-Key: x'])).status, 200, headers.join())
  }
  for (const headers of foreign) {
    t.equal((await send('GET /any/x', headers)).status, 200, 'nothing is changed, and no page may read it')
    t.equal((await send('POST /public/x', headers)).status, 200, 'nobody has looked at the key')
    const secretKey = [`SecretKey: ${user.secretKey}`, ...headers]
    t.equal((await ask(t, gateway.url, 'POST /any/x', secretKey)).status, 200, 'no browser adds it')
  }
  const wrong = await ask(t, gateway.url, 'POST /any/x', [basicOf('wrong'), site('cross-site')])
  assertProblem(t, wrong, { status: 401, code: 'secret-key-invalid' })
})
