import t, { type Test } from 'tap'
import { passkeyFormBytesMax } from '#portal/sign-in/passkey-pages.ts'
import { startBoth } from '../setup/both.ts'
import { storeDrivers } from '../setup/gateway.ts'
import { createSoftAuthenticator, type Deviations } from '../setup/soft-authenticator.ts'
import {
  type CookieJar,
  createCookieJar,
  csrfIn,
  givePassword,
  pageVisit,
  password,
  sameOrigin,
  signInAt,
  submit,
} from './support/cookie-jar.ts'

const origin = 'http://localhost:8080'
const home = '/portal/profile/two-factor'

/** A gateway that requires a second factor of Admins, with one who has a password. */
async function start(t: Test, driver: (typeof storeDrivers)[number]) {
  const gateway = await startBoth(t, {
    driver,
    config: {
      publicUrl: origin,
      accessCookie: { enabled: true },
      portal: { requireSecondFactor: 'admins' },
      routes: [{ name: 'app', path: '/app', upstream: 'backend', auth: 'any', browser: { cookie: true } }],
    },
  })
  const { account } = await gateway.createAccount({ role: 'Admin' })
  await givePassword(t, gateway, account.id)
  const device = createSoftAuthenticator(origin)
  const newJar = () => createCookieJar(t, gateway.url)

  /** As the script asks for them, with the fields of the form. */
  async function options(
    jar: CookieJar,
    page: string,
    path: string,
    fields: Readonly<Record<string, string>> = {},
  ) {
    const shown = await jar.ask(`GET ${page}`, pageVisit('same-origin'))
    const csrf = csrfIn(shown)
    const headers = [
      'Content-Type: application/x-www-form-urlencoded',
      'Accept: application/json',
      ...sameOrigin,
    ]
    const answer = await jar.ask(`POST ${path}`, headers, new URLSearchParams({ csrf, ...fields }).toString())
    return { csrf, answer }
  }

  async function add(jar: CookieJar, authenticator = device, fields: Readonly<Record<string, string>> = {}) {
    const { csrf, answer } = await options(jar, home, `${home}/passkeys/options`, { password, ...fields })
    if (answer.status !== 200) return answer
    const credential = authenticator.create(answer.json() as object)
    return submit(jar, `${home}/passkeys/add`, { csrf, name: 'Laptop', credential })
  }

  async function signInWith(jar: CookieJar, over: Deviations = {}, authenticator = device) {
    const { csrf, answer } = await options(jar, '/portal/sign-in', '/portal/sign-in/passkey/options')
    const fields = { csrf, next: '', credential: authenticator.get(answer.json() as object, over) }
    return { fields, answer: await submit(jar, '/portal/sign-in/passkey', fields) }
  }

  /** The right password, up to the second factor. */
  async function pendingOf(jar: CookieJar) {
    const page = await signInAt(jar, '/portal/sign-in', account.email)
    return { csrf: csrfIn(page), pending: /name="pending" value="([^"]*)"/.exec(page.body)?.[1] ?? '', page }
  }

  async function confirm(jar: CookieJar, over: Deviations = {}) {
    const { csrf, answer } = await options(jar, '/portal/confirm/passkey', '/portal/confirm/passkey/options')
    const credential = device.get(answer.json() as object, over)
    return submit(jar, '/portal/confirm/passkey', { csrf, credential, next: '/profile/two-factor' })
  }

  return { gateway, account, device, newJar, options, add, signInWith, pendingOf, confirm }
}

for (const driver of storeDrivers) {
  t.test(`passkeys sign in, confirm and are changed, on ${driver}`, async (t) => {
    const { gateway, account, device, newJar, options, add, signInWith, pendingOf, confirm } = await start(
      t,
      driver,
    )
    const jar = newJar()
    await signInAt(jar, '/portal/sign-in', account.email)
    t.notOk(jar.cookies.has('accessToken'), 'no token before the second factor that is required')
    const wrong = await add(jar, undefined, { password: 'wrong' })
    t.match(wrong.json(), { code: 'request-invalid', errors: [{ field: 'password' }] })
    const added = await add(jar)
    t.match(added.body, /\w{5}-\w{5}/, 'recovery codes')
    t.ok(jar.cookies.has('accessToken'), 'it is what was required')
    const codes = added.body.match(/\b[2-9a-z]{5}-[2-9a-z]{5}\b/g) ?? []
    t.equal((await jar.ask('GET /app', sameOrigin)).status, 200)

    t.test('without the password', async (t) => {
      const other = newJar()
      const { fields, answer } = await signInWith(other)
      t.match(answer, { status: 303, headers: { location: /integration/ } })
      t.ok(other.cookies.has('accessToken'), 'it satisfies the second factor that is required')
      const again = await submit(newJar(), '/portal/sign-in/passkey', fields)
      t.equal(again.status, 403, 'in another browser')
      for (const over of [{ origin: gateway.url }, { rpId: '127.0.0.1' }, { isUserVerified: false }]) {
        const refused = (await signInWith(newJar(), over)).answer
        t.match(refused, { status: 403, body: /The passkey was not accepted/ }, JSON.stringify(over))
      }
      const stranger = createSoftAuthenticator(origin)
      t.equal((await signInWith(newJar(), {}, stranger)).answer.status, 403)
    })

    t.test('a challenge that was answered is void in its own browser too', async (t) => {
      const other = newJar()
      const { fields } = await signInWith(other)
      for (const name of [...other.cookies.keys()]) if (name !== 'gatehouse-form') other.cookies.delete(name)
      const again = await submit(other, '/portal/sign-in/passkey', fields)
      t.match(again, { status: 403, body: /The passkey was not accepted/ })
    })

    t.test('after the password', async (t) => {
      const other = newJar()
      const { csrf, pending, page } = await pendingOf(other)
      t.match(page.body, /Use a passkey/)
      const fields = { csrf, pending }
      const asked = await other.ask(
        'POST /portal/sign-in/passkey/options',
        ['Content-Type: application/x-www-form-urlencoded', 'Accept: application/json', ...sameOrigin],
        new URLSearchParams(fields).toString(),
      )
      t.match(asked.json(), {
        rpId: 'localhost',
        userVerification: 'preferred',
        allowCredentials: [{ type: 'public-key' }],
      })
      const send = (over: Deviations) =>
        submit(other, '/portal/sign-in/code', { ...fields, credential: deviceOf(asked, over) })
      t.match(await send({ origin: 'http://localhost' }), {
        status: 400,
        body: /The passkey was not accepted/,
      })
      t.match(await send({ isUserVerified: false }), { status: 303, headers: { location: /integration/ } })
      const recovery = await pendingOf(newJar())
      t.match(recovery.page.body, /Recovery code/)
    })

    t.test('a recovery code signs in once', async (t) => {
      const other = newJar()
      const { csrf, pending } = await pendingOf(other)
      const fields = { csrf, pending, code: codes[0] ?? '' }
      t.match(await submit(other, '/portal/sign-in/code', fields), {
        status: 303,
        headers: { location: /integration/ },
      })
    })

    t.test('a passkey confirms in place of password and code, which are asked for otherwise', async (t) => {
      const remove = async (fields: Readonly<Record<string, string>>) => {
        const page = await jar.ask(`GET ${home}`, pageVisit('same-origin'))
        const id = /name="id" value="([^"]*)"/.exec(page.body)?.[1] ?? ''
        return submit(jar, `${home}/passkeys/remove`, { csrf: csrfIn(page), id, ...fields })
      }
      const second = createSoftAuthenticator(origin)
      t.match((await add(jar, second)).json(), { errors: [{ field: 'code' }] })
      t.match(
        (await add(jar, second, { code: codes[0] ?? '' })).json(),
        { errors: [{ field: 'code' }] },
        'was used',
      )
      t.match(await add(jar, second, { code: codes[1] ?? '' }), { status: 303 })
      t.match(await remove({ password }), { status: 400, body: /The code is wrong/ })
      t.match(await remove({}), { status: 400, body: /The password is wrong/ })
      t.match(await confirm(jar, { isUserVerified: false }), {
        status: 400,
        body: /The passkey was not accepted/,
      })
      t.match(await confirm(jar), { status: 303, headers: { location: new RegExp(`${home}$`) } })
      t.match(await remove({}), { status: 303 })
      t.match(await remove({}), { status: 400, body: /this is your last passkey/ }, 'as one is required')
      const page = await jar.ask(`GET ${home}`, pageVisit('same-origin'))
      t.equal(page.body.match(/passkeys\/rename"/g)?.length, 1, 'one is left')
    })

    t.test('an app is added beside passkeys only after one was used', async (t) => {
      const other = newJar()
      const { csrf, pending } = await pendingOf(other)
      await submit(other, '/portal/sign-in/code', { csrf, pending, code: codes[2] ?? '' })
      const page = await other.ask(`GET ${home}`, pageVisit('same-origin'))
      const fields = { csrf: csrfIn(page), password, code: '000000', secret: 'A'.repeat(32) }
      t.match(await submit(other, home, fields), {
        status: 400,
        body: /First <a|First confirm with a passkey/,
      })
    })

    t.test('a confirmation ends with the session, and is nobody else’s', async (t) => {
      const other = newJar()
      const { csrf, pending } = await pendingOf(other)
      await submit(other, '/portal/sign-in/code', { csrf, pending, code: codes[3] ?? '' })
      const name = 'gatehouse-confirmed-passkey'
      other.cookies.set(name, jar.cookies.get(name) ?? '')
      const { answer } = await options(other, home, `${home}/passkeys/options`)
      t.match(answer.json(), { errors: [{ field: 'password' }] })
    })

    t.test('a form is no larger than an answer', async (t) => {
      const other = newJar()
      const page = await other.ask('GET /portal/sign-in', pageVisit('same-origin'))
      const fixed = new URLSearchParams({ csrf: csrfIn(page), credential: '' }).toString().length
      const send = (length: number) =>
        submit(other, '/portal/sign-in/passkey', {
          csrf: csrfIn(page),
          credential: 'x'.repeat(length - fixed),
        })
      t.equal((await send(passkeyFormBytesMax)).status, 403, 'at the limit')
      t.equal((await send(passkeyFormBytesMax + 1)).status, 413, 'one over')
      t.equal((await send(10 * passkeyFormBytesMax)).status, 413, 'far over')
      t.match(await submit(other, '/portal/sign-in/passkey', { csrf: csrfIn(page) }), {
        status: 400,
        body: /Passkeys need JavaScript/,
      })
    })

    t.test('the admin API removes them with the rest of the second factor', async (t) => {
      const admin = await gateway.createAccount({ role: 'Admin' })
      const path = `/api/v1/admin/accounts/${account.id}/second-factor`
      const removed = await newJar().ask(`DELETE ${path}`, [`SecretKey: ${admin.secretKey}`])
      t.equal(removed.status, 204)
      t.equal((await signInWith(newJar())).answer.status, 403)
    })

    function deviceOf(asked: { json(): unknown }, over: Deviations): string {
      return device.get(asked.json() as object, over)
    }
  })
}

t.test('there are no passkeys where passwords are not accepted', async (t) => {
  const oidc = { issuer: 'http://127.0.0.1:1', clientId: 'gatehouse', passwords: false }
  const { url } = await startBoth(t, { config: { publicUrl: origin, portal: { oidc } } })
  const jar = createCookieJar(t, url)
  const page = await jar.ask('GET /portal/sign-in', pageVisit('same-origin'))
  t.notMatch(page.body, /passkey/)
  t.equal(
    (await submit(jar, '/portal/sign-in/passkey', { csrf: csrfIn(page), credential: '{}' })).status,
    404,
  )
})
