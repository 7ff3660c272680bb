import t from 'tap'
import { findBarriers } from '../portal/support/axe.ts'
import { startBoth } from '../setup/both.ts'
import { startChromium } from '../setup/chromium.ts'
import { startGateway } from '../setup/gateway.ts'
import { ask } from './support/ask.ts'
import { assertProblem } from './support/problem.ts'

const browsers = 'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const notFound = { status: 404, code: 'route-not-found' }

t.test('a path without a route shows browsers a page, and programs problem+json', async (t) => {
  const gateway = await startBoth(t)
  for (const line of ['GET /', 'GET /no/such', 'GET /?q=<script>']) {
    const answer = await ask(t, gateway.url, line, [browsers])
    t.equal(answer.status, 404)
    t.match(answer.headers, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': /^default-src 'none'; style-src 'sha256-[^']+'; /,
      'x-content-type-options': 'nosniff',
      'content-length': String(answer.body.length),
    })
    t.match(answer.body, /<dd>route-not-found<\/dd>/)
    t.match(answer.body, `<dd>${answer.headers['x-request-id']}</dd>`)
    t.match(answer.body, 'href="/portal"')
    t.notMatch(answer.body, /<script|127\.0\.0\.1/)
  }
  const head = await ask(t, gateway.url, 'HEAD /', [browsers])
  t.match(head, { status: 404, body: '', headers: { 'content-type': 'text/html; charset=utf-8' } })
  for (const accept of [
    undefined,
    '*/*',
    'application/json',
    'application/json, */*',
    'text/html;q=0',
    'text/html; q=0.0, */*',
    'text/html;level=1;q=0, */*',
    'text/htmlx, application/text/html',
  ])
    assertProblem(
      t,
      await ask(t, gateway.url, 'GET /', accept === undefined ? [] : [`Accept: ${accept}`]),
      notFound,
    )
  assertProblem(t, await ask(t, gateway.url, 'POST /', [browsers], ''), notFound)
  assertProblem(t, await ask(t, gateway.url, 'GET /key', [browsers]), {
    status: 401,
    code: 'credentials-missing',
  })
})

t.test('without a portal the page for a missing route links nowhere', async (t) => {
  const gateway = await startGateway(t, { config: { portal: { enabled: false } } })
  const { status, body } = await ask(t, gateway.url, 'GET /', [browsers])
  t.equal(status, 404)
  t.notMatch(body, '<a ')
})

t.test('the page for a missing route is readable in a browser, in both colour schemes', async (t) => {
  const gateway = await startGateway(t)
  const page = await (await startChromium(t)).newPage({ viewport: { width: 360, height: 640 } })
  const complaints: string[] = []
  page.on('console', (message) => complaints.push(message.text()))
  await page.goto(gateway.url)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    t.strictSame(await findBarriers(page), [], colorScheme)
  }
  t.ok(Number(await page.evaluate('document.documentElement.scrollWidth')) <= 360)
  t.strictSame(
    complaints.filter((text) => !text.includes('404')),
    [],
    'its style is allowed',
  )
  await page.getByRole('link').click()
  t.match(page.url(), /\/portal/)
})
