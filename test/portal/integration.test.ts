import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { findBarriers } from './support/axe.ts'
import { portalTests } from './support/portal.ts'

// needs: curl, python3

const test = portalTests(t)

const run = promisify(execFile)

test('Try it calls a route and shows who the backend saw', async (t, portal) => {
  const { page, id, secretKey } = await portal.createPerson()
  for (const path of ['/any', '/bearer']) {
    await page.getByLabel('Route').selectOption({ label: `GET ${path}` })
    await page.getByRole('button', { name: 'Send request' }).click()
    await page.getByRole('heading', { name: 'The backend received' }).waitFor()
    const result = (await page.locator('#try-it').textContent()) ?? ''
    t.match(result, /^.*200GET/s)
    t.match(result, `X-User-Id${id}`)
    t.match(result, 'X-User-RoleUser')
    t.notMatch(result, secretKey)
    t.strictSame(await findBarriers(page), [])
  }
  await page.goto(`${portal.url}/portal/sessions`)
  await page.getByText('No active token sessions').waitFor()
})

test('Try it sends a method, a path below the route and a body', async (t, portal) => {
  const { page, secretKey } = await portal.createPerson()
  const send = async (rest: string) => {
    await page.getByLabel('Method', { exact: true }).selectOption('POST')
    await page.getByLabel('Rest of the path').fill(rest)
    await page.getByLabel('Body', { exact: true }).fill('{"item": 7}')
    await page.getByRole('button', { name: 'Send request' }).click()
  }
  await page.getByLabel('Route').selectOption({ label: 'GET /any' })
  await page.getByText('Method, path and body').click()
  await send('/42?limit=1')
  await page.getByRole('heading', { name: 'The backend received' }).waitFor()
  const result = (await page.locator('#try-it').textContent()) ?? ''
  t.match(result, 'POST /any/42?limit=1 · with the secret key')
  t.match(result, '"content-type": "application/json"')
  t.match(result, '"content-length": "11"')
  t.notMatch(result, secretKey)
  t.equal(await page.getByLabel('Body', { exact: true }).inputValue(), '{"item": 7}', 'it is still there')
  t.strictSame(await findBarriers(page), [])
  await page.getByLabel('Route').selectOption({ label: 'GET /' })
  for (const rest of ['/portal/profile', '/api/v1/admin/accounts', '/../any', 'x']) {
    await send(rest)
    await page.getByText('Begin the path below / with / or ?').waitFor()
  }
})

test('only routes that the account may call are offered', async (t, portal) => {
  const { page } = await portal.createPerson()
  const options = await page.getByLabel('Route').getByRole('option').allTextContents()
  t.strictSame(options, ['GET /any', 'GET /bearer', 'POST /orders', 'GET /'])
  const admin = await portal.createPerson({ role: 'Admin' })
  t.match(await admin.page.getByLabel('Route').getByRole('option').allTextContents(), [
    'GET /any',
    'GET /bearer',
    'GET /admins',
  ])
})

/** Whether a program can be run that does nothing. */
function isThere(program: string, options: readonly string[]): boolean {
  return spawnSync(program, [...options, '']).status === 0
}

test('the lines to paste work as they stand', async (t, portal) => {
  const { page, id, secretKey, apiKey } = await portal.createPerson()
  const env = { ...process.env, GATEHOUSE_SECRET_KEY: secretKey, GATEHOUSE_API_KEY: apiKey, NODE_OPTIONS: '' }
  const programs = {
    curl: ['sh', '-c'],
    JavaScript: [process.execPath, '--input-type=module', '-e'],
    Python: ['python3', '-c'],
  } as const
  for (const [language, [program, ...options]] of Object.entries(programs)) {
    if (!isThere(program, options)) {
      t.pass(language, { skip: `there is no ${program} here` })
      continue
    }
    for (const scheme of ['with the secret key', 'with an access token']) {
      const lines = await page.getByLabel(`${language}, ${scheme}`, { exact: true }).textContent()
      const { stdout } = await run(program, [...options, lines ?? ''], { env })
      t.match(stdout, new RegExp(`"x-user-id":"${id}"`), `${language} ${scheme}`)
    }
  }
})
