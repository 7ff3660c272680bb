import t from 'tap'
import { startBoth } from '../setup/both.ts'
import { startChromium } from '../setup/chromium.ts'

/** What the page of an application with a sign-in of its own does. */
const script = `fetch('/app/api', { headers: { Authorization: 'Bearer of-the-application' } })
  .then((response) => response.text())
  .then((text) => { document.title = text })`

t.test('a page that sends a Bearer of its own stands behind the sign-in of the portal', async (t) => {
  const { backend, gateway } = await startBoth(t, {
    answer: ({ headers, url }, response) => {
      if (url === '/app/api') response.end(`${headers.authorization} for ${headers['x-user-id']}`)
      else response.writeHead(200, { 'Content-Type': 'text/html' }).end(`<script>${script}</script>`)
    },
    config: {
      accessCookie: { enabled: true },
      routes: [
        {
          name: 'app',
          path: '/app',
          upstream: 'backend',
          auth: 'any',
          authorization: 'backend',
          browser: { cookie: true, signIn: true },
        },
      ],
    },
  })
  const created = await gateway.createAccount()
  const { JwtToken } = await gateway.tokens(created)
  const context = await (await startChromium(t)).newContext()
  const page = await context.newPage()
  await page.goto(`${gateway.url}/app`)
  t.match(page.url(), /\/portal\/sign-in/, 'nobody is signed in')
  t.equal(backend.seen.length, 0)
  await context.addCookies([{ name: 'accessToken', value: JwtToken, url: gateway.url }])
  await page.goto(`${gateway.url}/app`)
  await page.waitForFunction(`document.title !== ''`)
  t.equal(await page.title(), `Bearer of-the-application for ${created.account.id}`)
  t.notOk(
    backend.seen.some(({ headers }) => headers.cookie?.includes('accessToken')),
    'the cookie stays here',
  )
})
