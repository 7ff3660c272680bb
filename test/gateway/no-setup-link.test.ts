import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import type { TestGateway } from '../setup/gateway.ts'
import { adminPath, operations, startAdminApi } from './support/admin.ts'
import { ask } from './support/ask.ts'

const password = 'correct horse battery staple'
const names = { firstName: 'Ada', lastName: 'Lovelace', role: 'User' }

t.test('an account is created with its keys though its set-up link cannot be made', async (t) => {
  const { gateway, admin, call } = await startAdminApi(t, 'sqlite')
  const cookie = await signIn(gateway, admin.account.id)
  refuseLinks(t, gateway)

  t.test('the admin API returns the keys though no set-up link can be made', async (t) => {
    const created = await call(operations.create, adminPath, { ...names, email: 'api@example.com' })
    t.equal(created.status, 201)
    const { id, secretKey, apiKey } = created.json()
    t.notOk('setupUrl' in created.json())
    t.equal(created.headers.location, `${adminPath}/${id}`)
    const issued = await gateway.post('/api/v1/accounts/access-token', {
      SecretKey: secretKey,
      APIKey: apiKey,
    })
    t.equal(issued.status, 200, 'the keys work')
    t.ok(
      gateway.logLines.some(
        (line) => line.includes('"status":201') && line.includes('set-up link not created: '),
      ),
      'the log says why there is no link',
    )
  })

  t.test('the portal shows the keys, and where to make the missing set-up link', async (t) => {
    const form = await openForm(gateway, '/accounts/new', cookie)
    const page = await form({ ...names, email: 'portal@example.com' })
    t.equal(page.status, 200)
    const text = await page.text()
    t.match(text, 'The set-up link could not be created.')
    t.match(text, /gate_sk_\w{16}_/)
    const found = await call(operations.list, `${adminPath}?q=portal@example.com`)
    t.match(found.json(), { items: [{ email: 'portal@example.com' }] })
  })
})

t.test('a search that is too long is refused in one sentence, and its field takes no more', async (t) => {
  const { gateway, admin } = await startAdminApi(t, 'sqlite')
  const cookie = await signIn(gateway, admin.account.id)
  const headers = [`Cookie: ${cookie}`, 'Accept: text/html']
  const page = await ask(t, gateway.url, `GET /portal/accounts?q=${'x'.repeat(201)}`, headers)
  t.equal(page.status, 400)
  t.match(page.body, />Must have at most 200 characters\.</)
  t.match(page.body, /name="q"[^>]* maxlength="200"/)
})

/** From now on the store takes no set-up link. */
function refuseLinks(t: Test, { configFile }: TestGateway): void {
  const database = new DatabaseSync(join(dirname(configFile), 'gatehouse.db'))
  t.teardown(() => database.close())
  database.exec(`CREATE TRIGGER refuse_links BEFORE INSERT ON audit WHEN NEW.entry LIKE '%setup-link-created%'
    BEGIN SELECT RAISE(ABORT, 'no links today'); END`)
}

/** Signs in to the portal with a set-up link. @returns the cookie */
async function signIn(gateway: TestGateway, accountId: string): Promise<string> {
  const { token } = await gateway.operate(({ setupLinks }) => setupLinks.create(accountId))
  const form = await openForm(gateway, '/setup')
  const { headers } = await form({ token, password, again: password })
  return cookiesOf(headers)
}

/** Asks for a page with a form. @returns what sends it, filled in */
async function openForm({ url }: TestGateway, path: string, known?: string) {
  const page = await fetch(`${url}/portal${path}`, { headers: { ...(known && { Cookie: known }) } })
  const csrf = /name="csrf" value="([^"]+)"/.exec(await page.text())?.[1] ?? ''
  const headers = { Cookie: known ?? cookiesOf(page.headers), 'Sec-Fetch-Site': 'same-origin' }
  return (fields: Readonly<Record<string, string>>) =>
    fetch(`${url}/portal${path}`, {
      method: 'POST',
      redirect: 'manual',
      headers,
      body: new URLSearchParams({ csrf, ...fields }),
    })
}

function cookiesOf(headers: Headers): string {
  const set = headers.getSetCookie().map((line) => line.split(';', 1)[0] ?? '')
  return set.filter((pair) => !pair.endsWith('=')).join('; ')
}
