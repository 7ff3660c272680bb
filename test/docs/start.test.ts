import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { serve } from '../cli/run.ts'
import {
  createCookieJar,
  csrfIn,
  pageVisit,
  password,
  signInAt,
  submit,
} from '../gateway/support/cookie-jar.ts'
import { freePort, until } from '../setup/net.ts'
import { createShell, linesOf } from './shell.ts'
import { snippetsOf } from './snippets.ts'

// needs: bash, curl

const page = 'docs/start.md'

/** The backend of the page, at a port. */
async function startBackend(t: Test, folder: string, port: number): Promise<void> {
  const [backend] = snippetsOf(page).filter(({ language }) => language === 'js')
  writeFileSync(join(folder, 'backend.mjs'), backend?.text ?? '')
  const child = spawn(process.execPath, ['backend.mjs'], { cwd: folder, env: { PORT: String(port) } })
  t.teardown(async () => {
    child.kill()
    await once(child, 'exit')
  })
  await until('the backend answers', async () => {
    try {
      return await (await fetch(`http://127.0.0.1:${port}/`)).text()
    } catch {
      return undefined
    }
  })
}

t.test('the tutorial works, step by step', async (t) => {
  const { folder, run } = createShell(t)
  const [port, opsPort, backendPort] = [await freePort(), await freePort(), await freePort()]
  const moved = (text: string) =>
    text
      .replaceAll(':8080', `:${port}`)
      .replaceAll(':9090', `:${opsPort}`)
      .replaceAll(':3000', `:${backendPort}`)
  const configs = snippetsOf(page).flatMap(({ language, text }) => (language === 'yaml' ? [moved(text)] : []))
  const config = join(folder, 'gateway.yaml')
  const step = async (index: number) => writeFileSync(config, configs[index] ?? '')
  const env = `export GATEHOUSE_CONFIG=gateway.yaml`
  await startBackend(t, folder, backendPort)

  await step(0)
  const [setting = '', check = '', ...creates] = linesOf(page, '2. A route and two keys')
  t.equal(setting, env)
  await run(`${env}; ${check}`)
  const keys: string[] = []
  for (const line of creates) keys.push(/gate_sk_\w+/.exec(await run(`${env}; ${line}`))?.[0] ?? '')
  const [ada = '', bob = ''] = keys
  const ports = ['--set', `listen.port=${port}`, '--set', `ops.port=${opsPort}`]
  await serve(t, ['--config', config, ...ports], { cwd: folder })
  const call = (line: string) =>
    run(`ADA=${ada} BOB=${bob}; ${moved(line).replace('curl', 'curl -sS -w " %{http_code}"')}`)

  const [, anonymous = '', order = '', own = '', forged = ''] = linesOf(page, '2. A route and two keys', 1)
  t.match(await call(anonymous), /credentials-missing.* 401$/s)
  t.match(await call(order), /^\[{"id":1,"by":"[^"]+"}\]\n 200$/)
  t.equal(await call(own), '[]\n 200')
  t.equal(await call(forged), '[]\n 200')

  await step(1)
  const [reload = '', refused = '', all = '', limited = ''] = linesOf(page, '3. Roles and a limit')
  t.match(await call(reload), / 200$/)
  t.match(await call(refused), /role-forbidden.* 403$/s)
  t.match(await call(all), /^\[{"id":1.* 200$/s)
  t.match(await call(limited), /^RateLimit-Remaining: 19\r$/m)
  const headers = { SecretKey: bob }
  for (let sent = 1; sent < 20; sent++) await fetch(`http://localhost:${port}/orders`, { headers })
  t.match(await call(limited), /^Retry-After: \d+\r$.*rate-limited.* 429$/ms)

  await step(2)
  const [again = '', link = ''] = linesOf(page, '4. Sign-in with a browser')
  t.match(await call(again), / 200$/)
  const token = /#(\S+)/.exec(await run(`${env}; ${link}`))?.[1] ?? ''
  const jar = createCookieJar(t, `http://localhost:${port}`)
  const csrf = csrfIn(await jar.ask('GET /portal/setup', pageVisit('same-origin')))
  t.match(await submit(jar, '/portal/setup', { csrf, token, password, again: password }), { status: 303 })

  const other = createCookieJar(t, `http://localhost:${port}`)
  const { headers: led } = await other.ask('GET /orders', pageVisit())
  const { headers: asked } = await other.ask(`GET ${led.location}`, pageVisit())
  t.match(asked.location, /^\/portal\/sign-in/)
  let back = await signInAt(other, asked.location ?? '', 'bob@example.com')
  while (back.headers.location !== '/orders' && back.status === 303)
    back = await other.ask(`GET ${back.headers.location}`, pageVisit())
  t.match(back, { status: 303, headers: { location: '/orders' } })
  t.equal(
    (await other.ask('GET /orders', pageVisit())).status,
    429,
    'who is signed in is Bob, limited as with his key',
  )
})
