import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { runInNewContext } from 'node:vm'
import httpProxy from '@fastify/http-proxy'
import t from 'tap'
import { run, tempFolder } from '../../cli/run.ts'
import { snippetsOf } from '../../docs/snippets.ts'
import { startBackend } from '../../setup/backend.ts'
import { startApp } from './start-app.ts'

const page = readFileSync('docs/library-fastify.md', 'utf8')
const example = 'examples/fastify'

t.test('the page shows the example as it is', async (t) => {
  for (const [file, language] of [
    ['app.ts', 'ts'],
    ['gatehouse.yaml', 'yaml'],
  ] as const)
    t.ok(page.includes(`\`\`\`${language}\n${readFileSync(`${example}/${file}`, 'utf8')}\`\`\``), file)
})

t.test('the lines about proxies on the page make one', async (t) => {
  const backend = await startBackend(t)
  const { text } =
    snippetsOf('docs/library-fastify.md').find(({ text }) => text.includes('gatehouse.proxy')) ?? {}
  const lines = (text ?? '').replace(/^import .*$/m, '').replace('http://10.0.0.12:3000', backend.url)
  const { url, createAccount } = await startApp(t, {
    routes: (app) => runInNewContext(`(async () => {${lines}})()`, { app, httpProxy }) as Promise<void>,
  })
  const { account, secretKey } = await createAccount()
  t.equal((await fetch(`${url}/reports`, { headers: { SecretKey: secretKey } })).status, 200)
  t.equal(backend.last().headers['x-user-id'], account.id)
})

t.test('the example of an app works as the page says', async (t) => {
  const cwd = tempFolder(t)
  copyFileSync(`${example}/gatehouse.yaml`, join(cwd, 'gatehouse.yaml'))
  const command = /npx --no -- gatehouse (.*)/.exec(page)?.[1] ?? ''
  const created = await run(t, [...command.split(' '), '--json'], { cwd })
  const { id, secretKey, apiKey, setupUrl } = created.json() as Record<string, string>
  t.notOk(setupUrl, 'the app serves no page for it')
  const app = spawn(process.execPath, ['-C', 'gatehouse-source', resolve(example, 'app.ts'), '0'], {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => app.kill())
  const [line] = (await once(app.stdout, 'data')) as [Buffer]
  const url = /listening on (\S+)/.exec(String(line))?.[1] ?? ''

  const orders = await fetch(`${url}/orders`, { headers: { SecretKey: secretKey ?? '' } })
  t.strictSame(await orders.json(), { ordersOf: id })
  t.equal((await fetch(`${url}/orders`)).status, 401)
  const tokens = await fetch(`${url}/api/v1/accounts/access-token`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ SecretKey: secretKey, APIKey: apiKey }),
  })
  const { JwtToken } = (await tokens.json()) as { JwtToken: string }
  const headers = { Authorization: `Bearer ${JwtToken}` }
  t.equal((await fetch(`${url}/orders/1`, { method: 'DELETE', headers })).status, 204)
  const byKey = { method: 'DELETE', headers: { SecretKey: secretKey ?? '' } }
  t.equal((await fetch(`${url}/orders/1`, byKey)).status, 401)
  t.strictSame(await (await fetch(`${url}/health`)).json(), { gatehouse: 'ok' })
})
