import type { Page } from 'playwright-core'
import t from 'tap'
import { until } from '../setup/net.ts'
import { goodPassword, portalTests, setUp, signIn } from './support/portal.ts'

const test = portalTests(t)

const bytesMax = 50 * 1024

test('a portal page takes at most 50 KiB, and three requests: itself, one style and one script', async (t, portal) => {
  const { page, id } = await portal.createPerson({ role: 'Admin' })
  const paths = [
    '/integration',
    '/sessions',
    '/profile',
    '/accounts',
    '/accounts/new',
    '/accounts/import',
    '/audit',
  ]
  for (const path of [...paths, `/accounts/${id}`, `/accounts/${id}/delete`, '/setup', '/nothing']) {
    const { bytes, requests } = await measure(page, `${portal.url}/portal${path}`)
    t.comment(`${path}: ${bytes} bytes, ${requests} requests`)
    t.ok(bytes <= bytesMax, `${path}: ${bytes} bytes`)
    t.equal(requests, 3, path)
  }
})

test('browsers keep style and script for ever, under names of their content', async (t, portal) => {
  const { page } = await portal.visit()
  await page.goto(`${portal.url}/portal/sign-in`)
  const client = await page.context().newCDPSession(page)
  await client.send('Network.enable')
  let fromCache = 0
  client.on('Network.requestServedFromCache', () => fromCache++)
  await page.goto(`${portal.url}/portal/setup`)
  await until('both come from the cache', () => fromCache === 2 || undefined)
  const style = await page.locator('link[rel=stylesheet]').getAttribute('href')
  const { headers } = await fetch(portal.url + style)
  t.equal(headers.get('cache-control'), 'public, max-age=31536000, immutable')
  t.equal((await fetch(`${portal.url}/portal/assets/other.css`)).status, 404)
})

test('no secret is in a URL, in the history, or in a line of the log', async (t, portal) => {
  const account = await portal.createAccount()
  const { page, urls } = await portal.visit()
  await setUp(page, account.setupUrl, goodPassword)
  await page.getByText('Reveal the secret key').click()
  await page.locator('#secretKey-reveal-password').fill(goodPassword)
  await page.locator('#secretKey-reveal-password').press('Enter')
  await page.getByText('Shown for one minute.').waitFor()
  await page.getByRole('button', { name: 'Send request' }).click()
  await page.getByRole('heading', { name: 'The backend received' }).waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('You are signed out.').waitFor()
  await signIn(page, portal, { email: account.email, password: goodPassword })
  await page.waitForURL('**/integration')
  const cookies = await page.context().cookies()
  const [, token = ''] = account.setupUrl.split('#')
  const secrets = [goodPassword, encodeURIComponent(goodPassword), account.secretKey, account.apiKey, token]
  const client = await page.context().newCDPSession(page)
  const { entries } = await client.send('Page.getNavigationHistory')
  await until('the log is written', () => portal.output.stdout.includes('/portal/sign-out') || undefined)
  const places = {
    urls: urls.map((url) => url.replace(/#.*/, '')).join('\n'),
    history: entries.map(({ url }) => url).join('\n'),
    log: portal.output.stdout + portal.output.stderr,
  }
  for (const [place, text] of Object.entries(places)) {
    t.match(text, '/portal/', place)
    const found = [...secrets, ...cookies.map(({ value }) => value)].filter((secret) => text.includes(secret))
    t.strictSame(found, [], place)
  }
})

/** What comes over the wire for a page that the browser has never seen. */
async function measure(
  page: Page,
  url: string,
): Promise<{ readonly bytes: number; readonly requests: number }> {
  const client = await page.context().newCDPSession(page)
  await client.send('Network.enable')
  await client.send('Network.setCacheDisabled', { cacheDisabled: true })
  let bytes = 0
  // Browsers draw controls such as that of a date with pictures of their own, as data: URLs.
  const sent = new Set<string>()
  client.on('Network.requestWillBeSent', ({ requestId, request }) => {
    if (!request.url.startsWith('data:')) sent.add(requestId)
  })
  let requests = 0
  client.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    bytes += encodedDataLength
    if (sent.has(requestId)) requests++
  })
  await page.goto(url, { waitUntil: 'networkidle' })
  await client.detach()
  return { bytes, requests }
}
