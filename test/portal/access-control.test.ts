import t from 'tap'
import { type Person, type Portal, portalTests } from './support/portal.ts'

const test = portalTests(t)
const testElsewhere = portalTests(t, { config: { portal: { path: '/keys/for/people' } } })
const testSecure = portalTests(t, { config: { publicUrl: 'https://api.example.com' } })
const testWithout = portalTests(t, { config: { portal: { enabled: false } } })

const adminGets = [
  '/accounts',
  '/accounts/new',
  '/accounts/import',
  '/accounts/ID',
  '/accounts/ID/delete',
  '/subjects',
  '/audit',
  '/audit/export',
  '/events',
]
const adminPosts = [
  '/accounts/new',
  '/accounts/import',
  '/accounts/ID/update',
  '/accounts/ID/verify',
  '/accounts/ID/unverify',
  '/accounts/ID/disable',
  '/accounts/ID/enable',
  '/accounts/ID/set-up-link',
  '/accounts/ID/reset-secret-key',
  '/accounts/ID/reset-api-key',
  '/accounts/ID/end-overlap',
  '/accounts/ID/end',
  '/accounts/ID/end-all',
  '/accounts/ID/end-portal',
  '/accounts/ID/end-all-portal',
  '/accounts/ID/delete',
  '/subjects/block',
  '/subjects/unblock',
  '/events/retry',
  '/events/test',
]
const ownPosts = [
  '/integration/secret-key/reveal',
  '/integration/secret-key/reset',
  '/integration/secret-key/end-overlap',
  '/integration/api-key/reveal',
  '/integration/api-key/reset',
  '/integration/try',
  '/sessions/end',
  '/sessions/end-all',
  '/sessions/end-portal',
  '/profile/name',
  '/profile/email',
  '/profile/password',
  '/sign-out',
  '/sign-out-everywhere',
]

test('a caller who is no Admin is refused on every path for Admins, in the portal and in the API', async (t, portal) => {
  const person = await portal.createPerson()
  const { id } = await portal.createAccount()
  const cookie = await cookieOf(person)
  const csrf = await csrfOf(portal, cookie)
  for (const path of adminGets) {
    t.equal(await statusOf(portal, path.replace('ID', id), { headers: { cookie } }), 403, path)
  }
  for (const path of adminPosts) {
    const body = new URLSearchParams({ csrf, role: 'Admin', email: 'x@example.com' })
    const headers = { cookie, Origin: portal.url }
    t.equal(await statusOf(portal, path.replace('ID', id), { method: 'POST', headers, body }), 403, path)
  }
  await person.page.goto(`${portal.url}/portal/accounts`)
  await person.page.getByRole('heading', { name: 'Administrators only' }).waitFor()
  for (const path of ['/accounts', `/accounts/${id}`, `/accounts/${id}/sessions`, '/audit']) {
    const headers = { SecretKey: person.secretKey }
    const { status } = await fetch(`${portal.url}/api/v1/admin${path}`, { headers })
    t.equal(status, 403, `API ${path}`)
  }
})

test('a visitor who is not signed in is redirected to sign-in, or answered 401', async (t, portal) => {
  for (const path of ['/integration', '/sessions', '/profile', ...adminGets]) {
    const page = await fetch(`${portal.url}/portal${path}`, {
      headers: { Accept: 'text/html' },
      redirect: 'manual',
    })
    t.equal(page.status, 303, path)
    t.match(page.headers.get('location'), '/portal/sign-in?next=')
    t.equal(await statusOf(portal, path, {}), 401, path)
  }
  for (const path of [...ownPosts, ...adminPosts]) {
    t.equal(await statusOf(portal, path, { method: 'POST', headers: { Origin: portal.url } }), 401, path)
  }
})

test('a form is refused from another site, and without its CSRF token', async (t, portal) => {
  const person = await portal.createPerson({ role: 'Admin' })
  const cookie = await cookieOf(person)
  const csrf = await csrfOf(portal, cookie)
  const paths = ['/sign-in', '/setup', '/verify', ...ownPosts, ...adminPosts]
  const foreign = [
    { 'Sec-Fetch-Site': 'cross-site', Origin: portal.url },
    { 'Sec-Fetch-Site': 'same-site' },
    { 'Sec-Fetch-Site': 'none' },
    { Origin: 'https://evil.example' },
    { Origin: `${portal.url}.evil.example` },
  ]
  for (const path of paths.map((path) => path.replace('ID', person.id))) {
    for (const from of foreign) {
      const body = new URLSearchParams({ csrf })
      const status = await statusOf(portal, path, { method: 'POST', headers: { cookie, ...from }, body })
      t.equal(status, 403, `${path} ${JSON.stringify(from)}`)
    }
    for (const token of ['', 'x', `${csrf}x`]) {
      const body = new URLSearchParams({ csrf: token })
      const headers = { cookie, 'Sec-Fetch-Site': 'same-origin' }
      t.equal(await statusOf(portal, path, { method: 'POST', headers, body }), 403, `${path} token ${token}`)
    }
  }
  await person.page.goto(`${portal.url}/portal/profile`)
  t.match(person.page.url(), '/portal/profile', 'still signed in')
})

test('a GET of the path of a form redirects to the page with the form', async (t, portal) => {
  const { page, id } = await portal.createPerson({ role: 'Admin' })
  for (const [path, home] of [
    ['/integration/secret-key/reset', '/integration'],
    ['/integration/try', '/integration'],
    ['/sessions/end-all', '/sessions'],
    ['/profile/password', '/profile'],
    ['/sign-out', '/integration'],
    [`/accounts/${id}/reset-secret-key`, `/accounts/${id}`],
    ['/accounts/a%22%26b/verify', '/accounts/a%22%26b'],
  ] as const) {
    await page.goto(`${portal.url}/portal${path}`)
    t.equal(page.url(), `${portal.url}/portal${home}`, path)
  }
})

test("an Admin's own account takes nothing without the password, also among the accounts", async (t, portal) => {
  const person = await portal.createPerson({ role: 'Admin' })
  const cookie = await cookieOf(person)
  const csrf = await csrfOf(portal, cookie)
  const send = async (path: string, fields: Readonly<Record<string, string>>) => {
    const headers = { cookie, 'Sec-Fetch-Site': 'same-origin', Accept: 'text/html' }
    const body = new URLSearchParams({ csrf, ...fields })
    const url = `${portal.url}/portal${path.replace('ID', person.id)}`
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual' })
    return { status: response.status, text: await response.text() }
  }
  const before = JSON.stringify(await portal.command('accounts', 'show', person.id))
  const details = { email: 'thief@example.com', firstName: 'T', lastName: 'T', role: 'Admin' }
  for (const path of adminPosts.filter((path) => /ID.(?!end|delete|disable|enable)/.test(path))) {
    for (const password of ['', 'a wrong password']) {
      const { status, text } = await send(path, { ...details, graceSeconds: '0', password })
      t.equal(status, 400, `${path} with '${password}'`)
      t.match(text, 'The password is wrong.', path)
      t.notMatch(text, /g[sal]k_[0-9A-Za-z]{22}|setup#/, `${path} hands nothing out`)
    }
  }
  t.equal(JSON.stringify(await portal.command('accounts', 'show', person.id)), before)
  const { password, id, page } = person
  t.equal((await send('/accounts/ID/unverify', { password })).status, 303, 'with the password')
  await page.goto(`${portal.url}/portal/accounts/${id}`)
  await page.getByText('Reset the API key…').click()
  await page.locator('form[action$="/reset-api-key"]').getByLabel('Your password').fill(password)
  await page.getByRole('button', { name: 'Reset the API key' }).click()
  await page.getByRole('heading', { name: 'Key reset' }).waitFor()
})

test('sign-in redirects only to pages of the portal', async (t, portal) => {
  const { page, email, password } = await portal.createPerson({ role: 'Admin' })
  const outside = [
    '/../orders',
    '/%2e%2e/orders',
    '/accounts/.%2E/../orders',
    '/..',
    '/./../x',
    '//evil.example',
  ]
  const elsewhere = [
    '/assets/x',
    '/sign-out',
    '/nothing',
    '/accounts/../../orders?q=/audit',
    '/\\evil.example',
  ]
  const attempts = [...outside, ...elsewhere, '/integration']
  await page.context().clearCookies()
  for (const next of attempts) {
    await page.goto(`${portal.url}/portal/sign-in?next=${encodeURIComponent(next)}`)
    const hidden = await page.locator('input[name="next"]').inputValue()
    t.equal(hidden, next === '/integration' ? next : '', next)
  }
  await page.goto(`${portal.url}/portal/sign-in?next=${encodeURIComponent('/audit?who=x&action=signed-in')}`)
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.waitForURL(`${portal.url}/portal/audit?who=x&action=signed-in`)
})

test('a link from another site finds its reader signed in, and no frame shows the portal', async (t, portal) => {
  const { page } = await portal.createPerson()
  await page.goto('about:blank')
  await page.route('http://elsewhere.example/**', (route) =>
    route.fulfill({
      contentType: 'text/html',
      body: `<a href="${portal.url}/portal/profile">link</a><iframe src="${portal.url}/portal/profile"></iframe>`,
    }),
  )
  await page.goto('http://elsewhere.example/')
  const framed = page.frames().find((frame) => frame.url() !== page.url())
  t.notMatch((await framed?.content().catch(() => '')) ?? '', 'Profile')
  await page.getByRole('link', { name: 'link' }).click()
  await page.getByRole('heading', { name: 'Profile' }).waitFor()
})

test('every portal response forbids caching and framing; a 405 lists the allowed methods', async (t, portal) => {
  for (const path of ['', '/sign-in', '/setup', '/integration', '/nothing/there', '/audit']) {
    const { headers } = await fetch(`${portal.url}/portal${path}`, {
      headers: { Accept: 'text/html' },
      redirect: 'manual',
    })
    t.equal(headers.get('cache-control'), 'no-store', path)
    t.equal(headers.get('x-frame-options'), 'DENY', path)
    t.equal(headers.get('referrer-policy'), 'no-referrer', path)
    t.equal(headers.get('x-content-type-options'), 'nosniff', path)
    t.ok(headers.get('permissions-policy'), path)
  }
  const page = await fetch(`${portal.url}/portal/sign-in`)
  t.match(page.headers.get('content-security-policy'), /^default-src 'none'; .*frame-ancestors 'none'/)
  t.match(page.headers.get('set-cookie'), /; Path=\/portal; HttpOnly; SameSite=Strict$/)
  for (const [path, method, allow] of [
    ['/sign-in', 'DELETE', 'GET, HEAD, POST'],
    ['/sign-out', 'GET', 'POST'],
    ['/accounts', 'PUT', 'GET, HEAD'],
  ] as const) {
    const { status, headers } = await fetch(`${portal.url}/portal${path}`, { method })
    t.strictSame([status, headers.get('allow')], [405, allow], `${method} ${path}`)
  }
  const nothing = await fetch(`${portal.url}/portal/nothing/there`)
  t.strictSame([nothing.status, nothing.headers.get('content-type')], [404, 'application/problem+json'])
  const wrongType = {
    method: 'POST',
    headers: { Origin: portal.url, 'Content-Type': 'application/json' },
    body: '{}',
  }
  t.equal(await statusOf(portal, '/sign-in', wrongType), 415)
  const large = {
    method: 'POST',
    headers: { Origin: portal.url },
    body: new URLSearchParams({ email: 'x'.repeat(70_000) }),
  }
  t.equal(await statusOf(portal, '/sign-in', large), 413)
})

testElsewhere(
  'the portal is served at the configured path, and not if it is turned off',
  async (t, portal) => {
    const { page } = await portal.createPerson()
    t.match(page.url(), `${portal.url}/keys/for/people/integration`)
    const elsewhere = await fetch(`${portal.url}/portal/sign-in`)
    t.match(await elsewhere.json(), { url: '/portal/sign-in' }, 'is forwarded like any other path')
  },
)

testSecure('behind https the cookies go over https alone', async (t, portal) => {
  const { headers } = await fetch(`${portal.url}/portal/sign-in`)
  t.match(
    headers.get('set-cookie'),
    /^__Secure-gatehouse-form=\w{32}; Path=\/portal; HttpOnly; Secure; SameSite=Strict$/,
  )
})

testSecure(
  'behind https every answer of the gateway itself asks for https, and none of a backend',
  async (t, portal) => {
    const own = [
      '/portal/sign-in',
      '/portal/none',
      '/portal/assets/none',
      '/.well-known/jwks.json',
      '/api/v1/admin/audit',
    ]
    for (const path of own) {
      const { headers } = await fetch(`${portal.url}${path}`)
      t.equal(headers.get('strict-transport-security'), 'max-age=31536000', path)
    }
    const answer = await fetch(`${portal.url}/pub/x`)
    t.equal(answer.headers.get('strict-transport-security'), null, 'the backend speaks for itself')
  },
)

test('over plain http no header asks for https', async (t, portal) => {
  const { headers } = await fetch(`${portal.url}/portal/sign-in`)
  t.equal(headers.get('strict-transport-security'), null)
})

testWithout('a portal that is turned off leaves its paths to the routes', async (t, portal) => {
  const answer = await fetch(`${portal.url}/portal/sign-in`)
  t.match(await answer.json(), { url: '/portal/sign-in' })
})

test('an account may send 600 forms at once and then one in six seconds, whatever others send', async (t, portal) => {
  const [person, other] = [await portal.createPerson(), await portal.createPerson()]
  const cookie = await cookieOf(person)
  const csrf = await csrfOf(portal, cookie)
  const send = (token: string) =>
    fetch(`${portal.url}/portal/sessions/end`, {
      method: 'POST',
      headers: { cookie, 'Sec-Fetch-Site': 'same-origin' },
      body: new URLSearchParams({ csrf: token, session: 'nobody' }),
      redirect: 'manual',
    })
  for (let sent = 0; sent < 10; sent++) t.equal((await send('x')).status, 403)
  const startedAt = performance.now()
  let last = await send(csrf)
  let taken = 0
  for (; last.status === 303; taken++) {
    if (taken > 2_000) throw new Error('there is no limit')
    last = await send(csrf)
  }
  // However slow this machine is, some come back meanwhile.
  const cameBack = Math.ceil((performance.now() - startedAt) / 6_000)
  t.ok(taken >= 600 && taken <= 600 + cameBack, `${taken} were taken`)
  t.equal(last.status, 429)
  const retryAfter = Number(last.headers.get('retry-after'))
  t.ok(retryAfter >= 1 && retryAfter <= 6, `Retry-After: ${retryAfter}`)
  t.equal(await statusOf(portal, '/sessions', { headers: { cookie } }), 200, 'pages are shown all the same')
  const othersCookie = await cookieOf(other)
  const body = new URLSearchParams({ csrf: await csrfOf(portal, othersCookie), session: 'nobody' })
  const headers = { cookie: othersCookie, 'Sec-Fetch-Site': 'same-origin' }
  t.equal(await statusOf(portal, '/sessions/end', { method: 'POST', headers, body }), 303, 'no other waits')
})

async function cookieOf({ visitor }: Person): Promise<string> {
  const cookies = await visitor.context.cookies()
  const inPortal = cookies.filter(({ path }) => path === '/portal')
  return inPortal.map(({ name, value }) => `${name}=${value}`).join('; ')
}

async function csrfOf({ url }: Portal, cookie: string): Promise<string> {
  const page = await fetch(`${url}/portal/profile`, { headers: { cookie } })
  return /name="csrf" value="([^"]+)"/.exec(await page.text())?.[1] ?? ''
}

async function statusOf({ url }: Portal, path: string, init: RequestInit): Promise<number> {
  const response = await fetch(`${url}/portal${path}`, { redirect: 'manual', ...init })
  await response.text()
  return response.status
}
