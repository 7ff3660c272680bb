import t from 'tap'
import { ask } from '../gateway/support/ask.ts'
import { startGateway } from '../setup/gateway.ts'
import { rawRequest } from '../setup/raw-client.ts'

const tooMany = 'There must be at most 100 members or parameters.'
const names = (count: number) => Array.from({ length: count }, (_, index) => `n${index.toString(36)}`)

t.test('of 100 members or parameters each that is wrong is named; more are one error', async (t) => {
  const { url, createAccount } = await startGateway(t)
  const { secretKey } = await createAccount({ role: 'Admin' })
  const json = [`SecretKey: ${secretKey}`, 'Content-Type: application/json']
  const send = (count: number) =>
    ask(
      t,
      url,
      'POST /api/v1/admin/accounts',
      json,
      JSON.stringify(Object.fromEntries(names(count).map((name) => [name, 0]))),
    )
  const query = (count: number) =>
    ask(t, url, `GET /api/v1/admin/accounts?${names(count).join('&')}`, [`SecretKey: ${secretKey}`])
  for (const [what, attempt] of Object.entries({ body: send, query })) {
    const atLimit = await attempt(100)
    t.equal(atLimit.status, 400, what)
    t.ok((atLimit.json().errors as readonly unknown[]).length >= 100, what)
    for (const count of [101, 3_000]) {
      const { status, body } = await attempt(count)
      t.equal(status, 400, `${what}: ${count}`)
      t.match(JSON.parse(body), { code: 'request-invalid', detail: tooMany }, `${what}: ${count}`)
      t.ok(body.length < 1_000, `${what}: ${count}`)
    }
  }
})

t.test('the name of an unknown member is shown in part if it is long', async (t) => {
  const { url, createAccount } = await startGateway(t)
  const { secretKey } = await createAccount({ role: 'Admin' })
  const json = [`SecretKey: ${secretKey}`, 'Content-Type: application/json']
  for (const length of [200, 201, 60_000]) {
    const { body } = await ask(t, url, 'POST /api/v1/admin/accounts', json, `{"${'n'.repeat(length)}":0}`)
    t.match(body, `"${'n'.repeat(200)}"`)
    t.notMatch(body, 'n'.repeat(201))
  }
})

t.test('a form of more than 100 fields is refused, of either encoding', async (t) => {
  const { url } = await startGateway(t)
  const send = async (type: string, body: string) => {
    const lines = ['POST /portal/sign-in HTTP/1.1', 'Host: gateway.test', `Content-Type: ${type}`]
    const { body: page } = await rawRequest(t, url, [...lines, `Content-Length: ${body.length}`], body)
    return page.includes('The form body is malformed.')
  }
  const urlencoded = (count: number) => send('application/x-www-form-urlencoded', names(count).join('=&'))
  const multipart = (count: number) => {
    const parts = names(count).map(
      (name) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n\r\n`,
    )
    return send('multipart/form-data; boundary=b', `${parts.join('')}--b--\r\n`)
  }
  for (const [what, attempt] of Object.entries({ urlencoded, multipart })) {
    t.equal(await attempt(100), false, what)
    for (const count of [101, 600]) t.equal(await attempt(count), true, `${what}: ${count}`)
  }
})
