import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import type { Test } from 'tap'
import { run, type Serving, start, tempFolder, textOf } from '../../cli/run.ts'
import { startServer } from '../../setup/backend.ts'
import { startChromium } from '../../setup/chromium.ts'
import type { StoreDriver } from '../../setup/gateway.ts'
import { freePort, until } from '../../setup/net.ts'
import { type RedisServer, startRedis } from '../../setup/redis.ts'

/** A gateway in a process of its own, with a portal, before a backend that echoes what it got. */
export interface Portal {
  readonly url: string
  readonly browser: Browser
  readonly output: Serving['output']
  readonly redis: RedisServer | undefined
  /** Ends the gateway once it has answered the requests in flight; resolves when it has. */
  stop(): Promise<unknown>
  /** Runs a command on the same store. @returns what it prints as JSON */
  command(...args: readonly string[]): Promise<unknown>
  createAccount(input?: AccountInput): Promise<CreatedAccount>
  /** The same, with a password: signed in through the set-up link. */
  createPerson(input?: AccountInput): Promise<Person>
  /** A browser that shares nothing with the others. */
  visit(options?: BrowserContextOptions): Promise<Visitor>
}

interface AccountInput {
  readonly email?: string
  readonly role?: string
}

export interface CreatedAccount {
  readonly id: string
  readonly email: string
  readonly secretKey: string
  readonly apiKey: string
  readonly setupUrl: string
}

export interface Person extends CreatedAccount {
  readonly password: string
  readonly visitor: Visitor
  readonly page: Page
}

export interface Visitor {
  readonly context: BrowserContext
  readonly page: Page
  /** Every URL that was asked for. */
  readonly urls: readonly string[]
}

export interface PortalTestOptions {
  readonly driver?: StoreDriver
  readonly config?: Readonly<Record<string, unknown>>
  /** How browsers reach it. Default: an address, where there are no passkeys. */
  readonly host?: 'localhost'
}

/** For a machine that has much else to do. */
const timeoutMs = 60_000

export const goodPassword = 'correct horse battery staple'

type Work = (t: Test, portal: Portal) => Promise<void>

/**
 * Tests that share a portal, in whose pages nothing may go wrong that the console would report. Each has accounts
 * and browsers of its own.
 */
export function portalTests(root: Test, options: PortalTestOptions = {}): (name: string, work: Work) => void {
  let shared: Promise<SharedPortal> | undefined
  return (name, work) => {
    root.test(name, async (t) => {
      shared ??= startPortal(root, options)
      const { complaints, ...portal } = await shared
      await work(t, { ...portal, ...visiting(t, await shared) })
      t.strictSame(complaints.splice(0), [], 'the console has nothing to complain of')
    })
  }
}

interface SharedPortal extends Omit<Portal, 'visit' | 'createPerson'> {
  readonly complaints: string[]
}

/** One for all tests of a file. */
let browser: Promise<Browser> | undefined

async function startPortal(t: Test, { driver, config, host }: PortalTestOptions): Promise<SharedPortal> {
  const folder = tempFolder(t)
  const file = join(folder, 'gateway.yaml')
  const backend = await startEcho(t)
  const redis = driver === 'redis' ? await startRedis(t) : undefined
  if (redis) writeFileSync(join(folder, 'sealing.key'), Buffer.alloc(32, 7).toString('base64'))
  const { url, child, output, ended } = await serveSomewhere(t, file, {
    backend,
    redis: redis?.url,
    config,
    host,
  })
  if (!browser) {
    browser = startChromium(t)
    // Another file may follow in this process.
    t.teardown(() => {
      browser = undefined
    })
  }
  let created = 0

  async function command(...args: readonly string[]): Promise<unknown> {
    const outcome = await run(t, [...args, '--json', '--config', file])
    if (outcome.status !== 0) throw new Error(`gatehouse ${args.join(' ')}: ${outcome.stderr}`)
    return outcome.json()
  }

  async function createAccount({ email, role = 'User' }: AccountInput = {}): Promise<CreatedAccount> {
    created++
    const address = email ?? `person${created}@example.com`
    const names = ['--first-name', 'Ada', '--last-name', 'Lovelace']
    const made = await command(
      'accounts',
      'create',
      '--email',
      address,
      '--role',
      role,
      '--verified',
      ...names,
    )
    // The cast is sound: the tests of the command look at what it prints.
    return made as CreatedAccount
  }

  return {
    url,
    browser: await browser,
    output,
    redis,
    complaints: [],
    stop: () => {
      child.kill('SIGTERM')
      return ended
    },
    command,
    createAccount,
  }
}

/** On a port that is known before, as links hold it; another where somebody was quicker to take it. */
async function serveSomewhere(t: Test, file: string, parts: Omit<ConfigParts, 'url' | 'port'>) {
  for (;;) {
    const port = await freePort()
    const url = `http://${parts.host ?? '127.0.0.1'}:${port}`
    const readyFile = `${file}.${port}.ready`
    writeFileSync(file, JSON.stringify(configOf({ ...parts, url, port })))
    const { child, output, ended } = start(t, ['serve', '--config', file, '--ready-file', readyFile])
    const isOver = () => child.exitCode !== null || undefined
    await until('the gateway is ready', () => textOf(readyFile) ?? isOver(), timeoutMs)
    if (textOf(readyFile)) return { url, child, output, ended }
    if (!/in use/.test(output.stderr)) throw new Error(`the gateway has ended: ${output.stderr}`)
  }
}

/** Browsers that are gone with the test. */
function visiting(t: Test, { browser, complaints, createAccount }: SharedPortal) {
  async function visit(options: BrowserContextOptions = {}): Promise<Visitor> {
    const context = await browser.newContext(options)
    t.teardown(() => context.close())
    const urls: string[] = []
    context.setDefaultTimeout(timeoutMs)
    context.on('request', (request) => urls.push(request.url()))
    context.on('weberror', (error) => complaints.push(String(error.error())))
    context.on('console', (message) => {
      // A refused form is answered with an error status, which the console reports; that is no fault of the page.
      const isAnswer = message.text().startsWith('Failed to load resource')
      // Advice on forms, such as one of a password that does not say whose it is.
      const isAdvice = message.text().startsWith('[DOM]')
      if ((message.type() === 'error' && !isAnswer) || isAdvice) complaints.push(message.text())
    })
    return { context, page: await context.newPage(), urls }
  }

  async function createPerson(input: AccountInput = {}): Promise<Person> {
    const account = await createAccount(input)
    const visitor = await visit()
    await setUp(visitor.page, account.setupUrl, goodPassword)
    return { ...account, password: goodPassword, visitor, page: visitor.page }
  }

  return { visit, createPerson }
}

/** Chooses a password with a link; ends on the page of the keys. */
export async function setUp(page: Page, link: string, password: string): Promise<void> {
  await page.goto(link)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByLabel('Password, again').fill(password)
  await page.getByRole('button', { name: 'Set password' }).click()
  await page.waitForURL('**/integration')
}

/** Fills in the form and sends it; where it leads is for the test to say. */
export async function signIn(page: Page, portal: Portal, { email, password }: Credentials): Promise<void> {
  await page.goto(`${portal.url}/portal`)
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

interface Credentials {
  readonly email: string
  readonly password: string
}

/** The status of a call with a secret key, on the route that is proxied. */
export async function statusWith({ url }: Portal, secretKey: string): Promise<number> {
  const response = await fetch(`${url}/any`, { headers: { SecretKey: secretKey } })
  await response.text()
  return response.status
}

/** A backend that answers with the headers it got, as JSON. */
function startEcho(t: Test): Promise<string> {
  return startServer(t, ({ method, url, headers }, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify({ method, url, headers }))
  })
}

interface ConfigParts {
  readonly url: string
  readonly port: number
  readonly backend: string
  readonly redis: string | undefined
  readonly config: PortalTestOptions['config']
  readonly host: PortalTestOptions['host']
}

function configOf({ url, port, backend, redis, config }: ConfigParts) {
  return {
    publicUrl: url,
    listen: { port },
    ops: { port: 0 },
    upstreams: { backend: { targets: [{ url: backend }] } },
    routes: [
      { name: 'any', path: '/any', upstream: 'backend', auth: 'any' },
      { name: 'bearer', path: '/bearer', upstream: 'backend', auth: 'bearer' },
      { name: 'admins', path: '/admins', upstream: 'backend', auth: 'any', roles: ['Admin'] },
      {
        name: 'orders',
        path: '/orders',
        methods: ['POST', 'PUT'],
        upstream: 'backend',
        auth: 'any',
        scopes: ['orders:write'],
      },
      { name: 'everything', path: '/', upstream: 'backend', auth: 'none' },
    ],
    keys: { sealingKey: { file: 'sealing.key' } },
    store:
      redis === undefined ? { sqlite: { path: 'gatehouse.db' } } : { driver: 'redis', redis: { url: redis } },
    limits: { failures: { limit: 1_000, per: '1m' } },
    shutdown: { drain: '50ms' },
    ...config,
  }
}
