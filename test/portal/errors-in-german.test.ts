import t from 'tap'
import { openPortalForm, readPortalForm } from '../security/support/portal-form.ts'
import { startGateway } from '../setup/gateway.ts'

const password = 'correct horse battery staple'
const german = { 'Accept-Language': 'de' }
const browser = { ...german, Accept: 'text/html' }

t.test('a browser that asks for German is refused in German, and code and title stay', async (t) => {
  const gateway = await startGateway(t)
  const { account } = await gateway.createAccount({ email: 'ada@example.com' })
  const { token } = await gateway.operate(({ setupLinks }) => setupLinks.create(account.id))

  const choose = await openPortalForm(gateway.url, '/setup')
  const short = await choose({ token, password: 'short', again: 'short' }, browser)
  t.match(short, { status: 400, text: 'Mindestens 12 Zeichen.' })
  t.match(short.text, '<html lang="de"')
  const other = await choose({ token, password, again: 'another' }, browser)
  t.match(other, { status: 400, text: 'Die Passwörter stimmen nicht überein.' })
  const { cookies } = await choose({ token, password, again: password }, browser)

  const signIn = await openPortalForm(gateway.url, '/sign-in')
  const wrong = await signIn({ email: account.email, password: 'not the password' }, browser)
  t.match(wrong, { status: 403, text: 'E-Mail-Adresse oder Passwort ist falsch.' })
  t.match(await signIn({ email: account.email, password: 'not the password' }), {
    text: 'Wrong e-mail or password.',
  })

  const show = (path: string, headers: Readonly<Record<string, string>>) =>
    fetch(`${gateway.url}/portal${path}`, { headers: { Cookie: cookies, ...headers } })
  const missing = await show('/nothing', browser)
  t.equal(missing.status, 404)
  t.match(await missing.text(), /<h1>Seite nicht gefunden<\/h1><p[^>]*>Diese Seite gibt es nicht\.<\/p>/)
  const reversed = await show('/usage?from=2026-11-30&to=2026-11-01', browser)
  t.equal(reversed.status, 400)
  t.match(await reversed.text(), /<h1>Ungültige Anfrage<\/h1><p[^>]*>Nicht nach dem 2026-11-01\.<\/p>/)
  const english = await show('/nothing', { ...browser, 'Accept-Language': 'en' })
  t.match(await english.text(), /<h1>Page not found<\/h1><p[^>]*>There is no such page\.<\/p>/)
  t.match(await (await show('/audit', browser)).text(), /<h1>Nur für die Administration<\/h1>/)
  t.match(await (await show('/nothing', german)).json(), {
    code: 'route-not-found',
    title: 'No matching route',
    detail: 'Diese Seite gibt es nicht.',
  })

  // As the script sends it.
  const { csrf } = await readPortalForm(gateway.url, '/profile', cookies)
  const reveal = async (headers: Readonly<Record<string, string>>) =>
    (
      await fetch(`${gateway.url}/portal/integration/secret-key/reveal`, {
        method: 'POST',
        headers: { Cookie: cookies, Accept: 'application/json', ...headers },
        body: new URLSearchParams({ csrf, password: 'not the password' }),
      })
    ).json()
  t.match(await reveal(german), {
    code: 'request-invalid',
    title: 'Invalid request',
    errors: [{ field: 'password', message: 'Das Passwort ist falsch.' }],
  })
  t.match(await reveal({}), { errors: [{ field: 'password', message: 'The password is wrong.' }] })

  const language = await fetch(`${gateway.url}/portal/profile/language`, {
    method: 'POST',
    headers: { Cookie: cookies, ...browser },
    body: new URLSearchParams({ csrf, language: 'tlh' }),
  })
  t.equal(language.status, 400)
  t.match(await language.text(), /<select id="language"[^>]*aria-invalid[^>]*>.*Wählen Sie eine Sprache\./)

  const tooLarge = await fetch(`${gateway.url}/portal/sign-in`, {
    method: 'POST',
    headers: browser,
    body: new URLSearchParams({ email: 'x'.repeat(100_000) }),
  })
  t.equal(tooLarge.status, 413)
  t.match(await tooLarge.text(), /<h1>Das Formular ist zu groß<\/h1>/)

  // The choice of the account comes before what the browser asks for.
  await gateway.operate(({ profile }) => profile.setLanguage(account.id, 'en'))
  t.match(await (await show('/audit', browser)).text(), /<h1>Administrators only<\/h1>/)
})

t.test('what has been done is said in German, by a name that nobody can choose', async (t) => {
  const gateway = await startGateway(t)
  const { account } = await gateway.createAccount()
  const { token } = await gateway.operate(({ setupLinks }) => setupLinks.create(account.id))
  const choose = await openPortalForm(gateway.url, '/setup')
  const { cookies } = await choose({ token, password, again: password })
  const profile = await fetch(`${gateway.url}/portal/profile`, { headers: { ...browser, Cookie: cookies } })
  t.match(await profile.text(), 'Ihr Passwort ist gesetzt, und Sie sind angemeldet.')
  const notice = async (name: string) =>
    (
      await fetch(`${gateway.url}/portal/sign-in`, {
        headers: { ...browser, Cookie: `gatehouse-notice=${name}` },
      })
    ).text()
  t.match(await notice('signed-out'), 'Sie sind abgemeldet.')
  t.notMatch(await notice('toString'), 'class="notice')
})
