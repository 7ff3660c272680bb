import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { tempFolder } from '../cli/run.ts'
import { untilClosed } from '../gateway/support/until-closed.ts'
import { startServer } from '../setup/backend.ts'
import { findBarriers } from './support/axe.ts'
import { type Person, portalTests } from './support/portal.ts'

/** What happens while the backend has a call of `/eventful`, before it answers. */
let event = async () => {}

/** Echoes the headers it got, at `/plain` not even those, and at `/held` keeps its callers waiting. */
const backend = await startServer(t, async ({ url, headers }, response) => {
  if (url === '/eventful') await event()
  if (url === '/plain') response.end('hello')
  else if (url === '/encoded') response.end(encodings(headers.authorization ?? '').join('\n'))
  else if (url !== '/held') response.end(JSON.stringify({ headers }))
})

/** A credential as a backend may show it. */
function encodings(text: string): readonly string[] {
  const bytes = Buffer.from(text)
  return [
    text,
    encodeURIComponent(text),
    bytes.toString('base64'),
    bytes.toString('hex'),
    JSON.stringify({ text }),
    Array.from(text, (character) => `%${character.charCodeAt(0).toString(16)}`).join(''),
  ]
}

const databasePath = join(tempFolder(t), 'gatehouse.db')

const config = {
  upstreams: { backend: { targets: [{ url: backend }] } },
  routes: [
    { name: 'held', path: '/held', upstream: 'backend', auth: 'bearer' },
    { name: 'eventful', path: '/eventful', upstream: 'backend', auth: 'bearer' },
    { name: 'plain', path: '/plain', upstream: 'backend', auth: 'any' },
    { name: 'hosted', path: '/hosted', host: 'api.example.com', upstream: 'backend', auth: 'any' },
    { name: 'open', path: '/open', upstream: 'backend', auth: 'none' },
  ],
  store: { sqlite: { path: databasePath } },
  shutdown: { drain: '30s' },
}

const test = portalTests(t, { config })

test('Try it reports a route that takes too long, and ends its session all the same', async (t, portal) => {
  const person = await portal.createPerson()
  const { page } = person
  const texts: string[] = []
  await page.exposeFunction('recordSubmit', (text: string) => texts.push(text))
  await page.evaluate("addEventListener('submit', ({ submitter }) => recordSubmit(submitter.textContent))")
  await send(person, 'GET /held')
  await page.getByText('No response within 10 seconds.').waitFor()
  t.strictSame(texts, ['Sending…'], 'what the button says meanwhile')
  t.strictSame(await findBarriers(page), [])
  await page.goto(`${portal.url}/portal/sessions`)
  await page.getByText('No active token sessions').waitFor()
})

test('Try it distinguishes a request without identity from a backend that does not show what it got', async (t, portal) => {
  const person = await portal.createPerson()
  const result = person.page.locator('#try-it .notice')
  await send(person, 'GET /open')
  t.equal(await result.textContent(), 'No identity was sent: the route has auth: none.')
  await send(person, 'GET /plain')
  t.equal(await result.textContent(), 'The backend does not echo request headers; this is its response.')
  t.strictSame(await findBarriers(person.page), [])
})

test('Try it lists a route of one host with that host', async (t, portal) => {
  const person = await portal.createPerson()
  await send(person, 'GET api.example.com/hosted')
  await person.page.getByRole('heading', { name: 'The backend received' }).waitFor()
  t.match(await person.page.locator('#try-it .row').first().textContent(), 'GET api.example.com/hosted')
})

const withBasicKeys = portalTests(t, {
  config: {
    upstreams: config.upstreams,
    routes: [
      {
        name: 'encoded',
        path: '/encoded',
        upstream: 'backend',
        auth: 'secretKey',
        forwardCredentials: true,
      },
    ],
    keys: { accept: ['basic'] },
  },
})

withBasicKeys('Try it shows no key, however the backend encodes what it was sent', async (t, portal) => {
  const person = await portal.createPerson()
  await send(person, 'GET /encoded')
  await person.page.locator('#try-it .notice').waitFor()
  const text = (await person.page.locator('#try-it').textContent()) ?? ''
  t.equal(text.split('[your secret key]').length - 1, 6, text)
  for (const shown of encodings(`key:${person.secretKey}`))
    for (const start of [6, 7, 8, 9]) t.notOk(text.includes(shown.slice(start, start + 12)), shown)
})

test('Try it keeps the chosen language beside the answer', async (t, portal) => {
  const person = await portal.createPerson()
  const { page } = person
  await page.getByText('Python', { exact: true }).click()
  await send(person, 'GET /plain')
  await page.locator('#try-it .notice').waitFor()
  t.ok(await page.getByLabel('Python', { exact: true }).isChecked())
})

test('Try it measures the call of the route, not the end of its session', async (t, portal) => {
  const person = await portal.createPerson()
  // As long as a request waits for the database; it is locked for longer.
  const waitMs = 250
  const unlocked = Promise.withResolvers<void>()
  event = async () => {
    const database = new DatabaseSync(databasePath)
    // Nothing can be written, such as the end of a session.
    database.exec('BEGIN IMMEDIATE')
    setTimeout(() => {
      database.close()
      unlocked.resolve()
    }, 2 * waitMs)
  }
  await send(person, 'GET /eventful')
  const text = (await person.page.locator('#try-it .row').first().textContent()) ?? ''
  const [, durationMs] = / (\d+) ms$/.exec(text) ?? []
  t.ok(Number(durationMs) < waitMs, text)
  await unlocked.promise
})

test('Try it shows an answer even if its session can no longer be ended', async (t, portal) => {
  const person = await portal.createPerson()
  let ended: Promise<unknown> | undefined
  event = async () => {
    ended = portal.stop()
    await untilClosed(t, portal.url)
  }
  await send(person, 'GET /eventful')
  await person.page.getByRole('heading', { name: 'The backend received' }).waitFor()
  // Its idle connections would be waited for.
  await person.visitor.context.close()
  await ended
})

async function send({ page }: Person, route: string): Promise<void> {
  await page.getByLabel('Route').selectOption({ label: route })
  await page.getByRole('button', { name: 'Send request' }).click()
}
