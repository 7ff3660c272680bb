import t from 'tap'
import { ask } from '../gateway/support/ask.ts'
import { assertProblem } from '../gateway/support/problem.ts'
import { startBackend } from '../setup/backend.ts'
import { startChromium } from '../setup/chromium.ts'
import { startGateway } from '../setup/gateway.ts'

const worker = 'self.addEventListener("fetch", (event) => event.respondWith(new Response("taken over")))'

/** An application that tries every way to a service worker for the whole origin. */
const startApplication = (t: Parameters<typeof startBackend>[0]) =>
  startBackend(t, ({ url = '' }, response) => {
    const allowed = new URL(url, 'http://backend').searchParams.get('allowed')
    const isScript = url.includes('.js')
    response.writeHead(200, {
      'Content-Type': isScript ? 'text/javascript' : 'text/html',
      'Cache-Control': 'max-age=3600',
      ...(!url.startsWith('/sw') && { Vary: 'Accept-Language' }),
      ...(allowed !== null && { 'Service-Worker-Allowed': allowed }),
    })
    response.end(isScript ? worker : '<!doctype html><title>application</title>')
  })

const routes = [
  { name: 'app', path: '/app', upstream: 'backend', auth: 'none' },
  { name: 'script', path: '/sw.js', upstream: 'backend', auth: 'none' },
]

t.test(
  'no service worker of a backend can be installed over the portal, from the cache neither',
  async (t) => {
    const backend = await startApplication(t)
    const gateway = await startGateway(t, { backend: backend.url, config: { routes } })
    const browser = await startChromium(t)
    const page = await browser.newPage()
    await page.goto(`${gateway.url}/app/`)
    const register = (script: string, options: RegistrationOptions) =>
      page.evaluate(
        async ([script, options]) => {
          // The cast is sound: the page is of a secure origin in a browser that has them.
          const { serviceWorker } = navigator as unknown as { readonly serviceWorker: ServiceWorkers }
          try {
            const { scope } = await serviceWorker.register(script, options)
            return new URL(scope).pathname
          } catch (error) {
            return error instanceof Error ? error.name : 'failed'
          }
        },
        [script, options] as const,
      )

    // The standard lets a browser take the worker from its cache then; Chromium asks again.
    t.equal(await page.evaluate(async () => (await fetch('/sw.js')).status), 200)
    t.equal(await register('/sw.js', { scope: '/portal/', updateViaCache: 'all' }), 'TypeError')
    t.equal(await register('/sw.js', {}), 'TypeError')
    t.equal(await register('/app/sw.js?allowed=/', { scope: '/' }), 'SecurityError')
    t.equal(await register('/app/sw.js?allowed=/po', { scope: '/portal' }), 'SecurityError')
    t.equal(
      await register('/app/sw.js?allowed=..', { scope: '/portal', updateViaCache: 'all' }),
      'SecurityError',
    )
    t.equal(
      await register('/app/js/sw.js?allowed=/app/', { scope: '/app/' }),
      '/app/',
      'its own folder is its own',
    )

    const { url } = gateway
    await page.goto(`${url}/portal/sign-in`)
    t.match(await page.content(), 'Sign in')
    await page.goto(`${url}/app/other`)
    t.match(await page.content(), 'taken over', 'a worker of the application works')
  },
)

interface ServiceWorkers {
  register(script: string, options: RegistrationOptions): Promise<{ readonly scope: string }>
}

type RegistrationOptions = { readonly scope?: string; readonly updateViaCache?: 'all' }

t.test(
  'the script is refused before its route, and scripts that were not asked for as one vary',
  async (t) => {
    const backend = await startApplication(t)
    const gateway = await startGateway(t, { backend: backend.url, config: { routes } })
    const asWorker = ['Service-Worker: script']
    const refused = { status: 403, code: 'service-worker-refused' }
    for (const path of ['/sw.js', '/%73w.js', '/no/../sw.js', '/unknown.js', '/portal/assets/x.js'])
      assertProblem(
        t,
        await ask(t, gateway.url, `GET ${path}`, asWorker),
        path.includes('..') ? { status: 400, code: 'path-ambiguous' } : refused,
      )
    assertProblem(t, await ask(t, gateway.url, 'GET /sw.js', ['service-worker: other']), refused)
    t.equal(backend.seen.length, 0)
    t.equal((await ask(t, gateway.url, 'GET /app/sw.js', asWorker)).status, 200)
    const varyOf = async (path: string) => (await ask(t, gateway.url, `GET ${path}`)).headers.vary
    t.equal(await varyOf('/sw.js'), 'Service-Worker')
    t.equal(await varyOf('/app/sw.js'), 'Accept-Language')
    t.equal(await varyOf('/app'), 'Accept-Language', 'no script')
  },
)

t.test('without a portal on the origin service workers are the business of the backends', async (t) => {
  const backend = await startApplication(t)
  const gateway = await startGateway(t, {
    backend: backend.url,
    config: { routes, portal: { enabled: false } },
  })
  const { status, headers } = await ask(t, gateway.url, 'GET /sw.js?allowed=/', ['Service-Worker: script'])
  t.match({ status, headers }, { status: 200, headers: { 'service-worker-allowed': '/', vary: undefined } })
})
