import t, { type Test } from 'tap'
import { isCommonPassword, isMostlyPersonalData } from '#platform/secrets/common-password.ts'
import { passwordLength } from '#platform/secrets/passwords.ts'
import { startRawBackend } from '../setup/backend.ts'
import { startGateway } from '../setup/gateway.ts'
import { body, exchange, head, requestBytes, signedInMaxMs, tooDear, tryAll } from './support/cost.ts'
import { startWithAll } from './support/gateway-with-all.ts'
import { structures } from './support/json-structures.ts'
import { openPortalForm, readPortalForm } from './support/portal-form.ts'

const password = 'correct horse battery staple'

/** A browser of a person, with the form of a page. */
async function openForm(url: string, path: string, cookies: string) {
  const { csrf, cookies: cookie } = await readPortalForm(url, path, cookies)
  return function send(action: string, body: string | Buffer, type = 'application/x-www-form-urlencoded') {
    const lines = [
      `POST /portal${action} HTTP/1.1`,
      'Host: gateway.test',
      `Cookie: ${cookie}`,
      `Content-Type: ${type}`,
    ]
    const bytes = typeof body === 'string' ? Buffer.from(`csrf=${csrf}&${body}`) : body
    return exchange(url, requestBytes([...lines, `Content-Length: ${bytes.length}`], bytes))
  }
}

async function signIn(t: Test) {
  const backend = await startRawBackend(t, (socket) => {
    socket.on('data', () => socket.write(answer))
  })
  const gateway = await startGateway(t, {
    backend,
    config: { routes: [{ name: 'open', path: '/open', upstream: 'backend', auth: 'any' }] },
  })
  const { account } = await gateway.createAccount({ role: 'Admin' })
  const { token } = await gateway.operate(({ setupLinks }) => setupLinks.create(account.id))
  const choose = await openPortalForm(gateway.url, '/setup')
  return { ...gateway, cookies: (await choose({ token, password, again: password })).cookies }
}

/** What the backend says. */
let answer = ''

t.test('no form keeps the event loop for long', async (t) => {
  const { url, cookies } = await signIn(t)
  const forms: Readonly<Record<string, readonly string[]>> = {
    '/sign-in': ['next', '', 'csrf'],
    '/sign-in/code': ['pending', 'code', 'credential'],
    '/sign-in/passkey': ['credential'],
    '/profile/two-factor/passkeys/add': ['credential', 'name'],
    '/forgot': ['email'],
    '/setup': ['token'],
    '/setup/check': ['token'],
    '/verify': ['token'],
    '/profile/name': ['firstName'],
    '/integration/keys/create': ['name', 'scopes', 'addresses', 'lifetimeDays'],
    '/integration/try': ['route'],
    '/sessions/end': ['session'],
    '/accounts/new': ['email', 'firstName', 'role'],
    '/subjects/block': ['subject'],
  }
  const send = await openForm(url, '/profile', cookies)
  for (const [action, names] of Object.entries(forms))
    await tryAll(t, names, { ...body, maxMs: signedInMaxMs }, (name, text) => {
      const value = encodeURIComponent(text).slice(0, body.length)
      return send(action, name === '' ? `${value}` : `${name}=${value}`)
    })
  await tryAll(t, ['/sign-in'], body, (action, text) => send(action, text))
  await tryAll(t, ['boundary=a', 'boundary="'], head, (parameter, text) =>
    send('/sign-in', Buffer.from('--a\r\n\r\n'), `multipart/form-data; ${parameter}${text}`),
  )
  const part = '--a\r\nContent-Disposition: form-data; name="'
  const multipart = {
    parts: '--a',
    name: part,
    header: `${part}a"\r\nX: `,
    value: `${part}a"\r\n\r\n`,
    before: '',
  }
  await tryAll(t, Object.keys(multipart), body, (where, text) =>
    send(
      '/sign-in',
      Buffer.from(`${multipart[where as keyof typeof multipart]}${text}\r\n--a--`),
      'multipart/form-data; boundary=a',
    ),
  )
})

t.test('no form of a client of OAuth 2 keeps the event loop for long', async (t) => {
  const { url } = await signIn(t)
  const endpoints: Readonly<Record<string, string>> = {
    token: 'grant_type=client_credentials&client_id=x&client_secret=',
    'token ': 'grant_type=refresh_token&scope=',
    'token  ': '',
    introspect: 'client_id=x&client_secret=y&token=',
    revoke: 'token=',
    'revoke ': 'token=eyJ',
  }
  await tryAll(t, Object.keys(endpoints), body, (name, text) => {
    const start = endpoints[name] ?? ''
    const value = start === '' ? text : encodeURIComponent(text)
    const bytes = Buffer.from((start + value).slice(0, body.length))
    const lines = [`POST /api/v1/oauth/${name.trim()} HTTP/1.1`, 'Host: gateway.test']
    const type = 'Content-Type: application/x-www-form-urlencoded'
    return exchange(url, requestBytes([...lines, type, `Content-Length: ${bytes.length}`], bytes))
  })
  await tryAll(t, ['', 'Basic ', 'Bearer eyJ'], head, (scheme, text) => {
    const lines = [
      'POST /api/v1/oauth/token HTTP/1.1',
      'Host: gateway.test',
      `Authorization: ${scheme}${text}`,
    ]
    const form = Buffer.from('grant_type=client_credentials')
    const type = 'Content-Type: application/x-www-form-urlencoded'
    return exchange(url, requestBytes([...lines, type, `Content-Length: ${form.length}`], form))
  })
})

t.test('no request for a token of an issuer keeps the event loop for long', async (t) => {
  const { url } = await startWithAll(t)
  const starts = ['', 'client_id=mcp&grant_type=', 'client_id=mcp&grant_type=refresh_token&refresh_token=']
  await tryAll(t, starts, body, (start, text) => {
    const bytes = Buffer.from(
      (start + (start === '' ? text : encodeURIComponent(text))).slice(0, body.length),
    )
    const lines = ['POST /api/v1/issuers/corp/token HTTP/1.1', 'Host: gateway.test']
    const type = 'Content-Type: application/x-www-form-urlencoded'
    return exchange(url, requestBytes([...lines, type, `Content-Length: ${bytes.length}`], bytes))
  })
})

t.test('no password keeps the event loop for long while it is checked for being common', async (t) => {
  const owner = { email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' }
  for (const start of ['a', '']) {
    await tryAll(t, [start], { length: passwordLength.bytesMax }, async (_, text) => {
      const password = start + text
      return isCommonPassword(password) || isMostlyPersonalData(password, owner)
    })
  }
})

t.test('no answer of a backend keeps the event loop for long as "Try it" shows it', async (t) => {
  const { url, cookies } = await signIn(t)
  const send = await openForm(url, '/integration', cookies)
  const tryIt = (body: string) => {
    const bytes = Buffer.from(body, 'latin1')
    answer = `HTTP/1.1 200 OK\r\nContent-Length: ${bytes.length}\r\n\r\n${bytes.toString('latin1')}`
    return send('/integration/try', 'route=open')
  }
  const dear: string[] = []
  for (const [name, structure] of Object.entries(structures)) {
    const why = await tooDear((length, end) => tryIt(structure(length, end)), { ...body, maxMs: 15 })
    if (why !== undefined) dear.push(`${name}: ${why}`)
  }
  t.strictSame(dear, [])
  await tryAll(t, ['body'], { ...body, maxMs: 15 }, (_, text) => tryIt(text))
})
