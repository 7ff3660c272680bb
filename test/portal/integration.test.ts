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

test('only routes that the account may call by GET are offered', async (t, portal) => {
  const { page } = await portal.createPerson()
  const options = await page.getByLabel('Route').getByRole('option').allTextContents()
  t.strictSame(options, ['GET /any', 'GET /bearer', 'GET /'])
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
