import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { tempFolder } from '../cli/run.ts'
import { git, startGitBackend } from '../gateway/support/git-backend.ts'
import { startS3Backend } from '../gateway/support/s3-backend.ts'
import { type Backend, startBackend, startServer } from '../setup/backend.ts'
import { startGateway, type TestGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { answerAsMcpServer } from './mcp-backend.ts'
import { runProgram, startProgram } from './programs.ts'
import { snippetsOf } from './snippets.ts'
import { sampleWheel } from './wheel.ts'

// needs: curl, git, promtool, python3, rclone, skopeo

const snippets = snippetsOf('docs/clients.md')

interface Scene {
  readonly gateway: TestGateway
  readonly key: string
  readonly userId: string
  readonly home: string
  /** A block of the page, with the address of this gateway. */
  snippet(heading: string, language: string, index?: number): string
  /** Runs the shell lines of a section. @returns what they print */
  sh(heading: string, index?: number, env?: Readonly<Record<string, string>>): Promise<string>
}

/** The gateway of the page, in front of a backend. */
async function start(t: Test, backendUrl: string): Promise<Scene> {
  const [page] = snippets
  // The cast is sound: the test of the configs has checked it.
  const config = parse(page?.text ?? '') as { upstreams: Record<string, unknown>; keys: object }
  const gateway = await startGateway(t, {
    config: {
      ...config,
      keys: { sealingKey: { file: 'sealing.key' }, ...config.keys },
      upstreams: { app: { targets: [{ url: backendUrl }] } },
    },
  })
  const { account, secretKey } = await gateway.createAccount()
  const home = tempFolder(t)

  function snippet(heading: string, language: string, index = 0): string {
    const found = snippets.filter((one) => one.heading === heading && one.language === language)[index]
    if (!found) throw new Error(`no ${language} under ${heading}`)
    const { host, hostname } = new URL(gateway.url)
    return found.text.replaceAll('localhost:8080', host).replaceAll('localhost', hostname)
  }

  const sh = (heading: string, index?: number, env?: Readonly<Record<string, string>>) =>
    runProgram(['sh', '-ec', snippet(heading, 'sh', index)], {
      cwd: home,
      env: { HOME: home, KEY: secretKey, ...env },
    })

  return { gateway, key: secretKey, userId: account.id, home, snippet, sh }
}

function isFrom(t: Test, backend: Backend, userId: string): void {
  t.ok(backend.seen.length > 0)
  t.strictSame([...new Set(backend.seen.map(({ headers }) => headers['x-user-id']))], [userId])
  t.notOk(backend.seen.some(({ headers }) => 'authorization' in headers || 'secretkey' in headers))
}

t.test('curl, as the page has it', async (t) => {
  const backend = await startBackend(t)
  const { sh, userId } = await start(t, backend.url)
  t.equal(await sh('Anything that can set a header'), 'ok')
  isFrom(t, backend, userId)
})

t.test('curl gets a token by OAuth 2, as the page has it', async (t) => {
  const backend = await startBackend(t)
  const { gateway, sh } = await start(t, backend.url)
  const { account, apiKey, secretKey } = await gateway.createAccount({ email: 'oauth@example.com' })
  t.equal(await sh('OAuth 2', 0, { API_KEY: apiKey, KEY: secretKey }), 'ok')
  isFrom(t, backend, account.id)
})

t.test('the page in the browser makes one refresh for calls that expire together', async (t) => {
  const backend = await startBackend(t)
  const { gateway, snippet, home } = await start(t, backend.url)
  writeFileSync(join(home, 'api.mjs'), snippet('A page in the browser', 'js'))
  const { createApi } = (await import(join(home, 'api.mjs'))) as {
    createApi(origin: string): (path: string) => Promise<Response>
  }
  const account = await gateway.createAccount({ email: 'spa@example.com' })
  let cookie = `refreshToken=${(await gateway.tokens(account)).RefreshToken}`
  const refreshes: string[] = []
  const first = new Set<string>()
  let isExpired = false
  // The cookies of a browser, and access tokens that have expired at once.
  const origin = await startServer(t, async (request, response) => {
    const isRefresh = request.url?.endsWith('/refresh-token') === true
    const authorization = request.headers.authorization ?? ''
    if (isRefresh) refreshes.push(cookie)
    else if (!isExpired) first.add(authorization)
    if (!isRefresh && isExpired && first.has(authorization)) {
      response.writeHead(401).end()
      return
    }
    const headers = isRefresh ? { cookie } : { authorization }
    const answer = await fetch(gateway.url + request.url, { method: request.method ?? 'GET', headers })
    cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? cookie
    response.writeHead(answer.status).end(await answer.text())
  })
  const call = createApi(origin)
  t.equal((await call('/api/1')).status, 200)
  t.equal(refreshes.length, 1)
  isExpired = true
  const answers = await Promise.all(Array.from({ length: 10 }, (_, index) => call(`/api/${index}`)))
  t.strictSame(new Set(answers.map(({ status }) => status)), new Set([200]))
  t.equal(refreshes.length, 2, 'one refresh for ten calls')
})

t.test('the OpenAI library for Node, by the variables of the page', async (t) => {
  const backend = await startBackend(t, (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    for (const content of ['Hel', 'lo'])
      response.write(`data: {"choices":[{"delta":{"content":"${content}"}}]}\n\n`)
    response.end('data: [DONE]\n\n')
  })
  const { snippet, home, key, userId } = await start(t, backend.url)
  symlinkSync(resolve('node_modules'), join(home, 'node_modules'))
  writeFileSync(join(home, 'chat.mjs'), snippet('OpenAI libraries', 'js'))
  const lines = `${snippet('OpenAI libraries', 'sh')}\nexec ${process.execPath} chat.mjs`
  t.equal(await runProgram(['sh', '-ec', lines], { cwd: home, env: { KEY: key } }), 'Hello')
  isFrom(t, backend, userId)
})

t.test('a client of MCP, as the page has it', async (t) => {
  const backend = await startBackend(t, answerAsMcpServer)
  const { snippet, home, key, userId } = await start(t, backend.url)
  symlinkSync(resolve('node_modules'), join(home, 'node_modules'))
  writeFileSync(join(home, 'client.mjs'), snippet('MCP', 'js'))
  const output = await runProgram([process.execPath, 'client.mjs'], { cwd: home, env: { KEY: key } })
  t.equal(output.trim(), 'add')
  isFrom(t, backend, userId)
})

t.test('Prometheus scrapes with the settings of the page', async (t) => {
  const backend = await startBackend(t, (_request, response) => {
    response.setHeader('Content-Type', 'text/plain; version=0.0.4').end('up_and_well 1\n')
  })
  const { snippet, home, key, userId } = await start(t, backend.url)
  writeFileSync(
    join(home, 'prometheus.yaml'),
    `global: { scrape_interval: 1s }\n${snippet('Prometheus', 'yaml')}`,
  )
  writeFileSync(join(home, 'gatehouse.key'), key)
  const options = [
    '--config.file=prometheus.yaml',
    '--web.listen-address=127.0.0.1:0',
    '--storage.tsdb.path=data',
  ]
  startProgram(t, ['prometheus', ...options], { cwd: home })
  await until('it has scraped', () => backend.seen.length > 0 || undefined)
  isFrom(t, backend, userId)
})

t.test('git clones with the commands of the page', async (t) => {
  const root = tempFolder(t)
  const work = join(root, 'work')
  await git(root, 'init', '-q', '-b', 'main', work)
  writeFileSync(join(work, 'file.txt'), 'text\n')
  await git(root, '-C', work, 'add', '.')
  await git(root, '-C', work, 'commit', '-q', '-m', 'first')
  await git(root, 'clone', '-q', '--bare', work, join(root, 'repo.git'))
  const backend = await startGitBackend(t, root)
  const { sh, userId } = await start(t, backend.url)
  await sh('git', 0)
  await sh('git', 1)
  t.strictSame([...new Set(backend.users)], [userId])
})

t.test('npm asks a registry with the commands of the page', async (t) => {
  const backend = await startBackend(t, (_request, response) => {
    const version = { name: '@acme/thing', version: '1.2.3', dist: { tarball: 'http://127.0.0.1/a.tgz' } }
    response.setHeader('Content-Type', 'application/json').end(
      JSON.stringify({
        name: '@acme/thing',
        'dist-tags': { latest: '1.2.3' },
        versions: { '1.2.3': version },
      }),
    )
  })
  const { sh, userId } = await start(t, backend.url)
  t.match(await sh('npm'), /1\.2\.3\s*$/)
  t.equal(backend.last().url, '/npm/@acme%2fthing')
  isFrom(t, backend, userId)
})

t.test('pip downloads with the commands of the page', async (t) => {
  const wheel = await sampleWheel(tempFolder(t), 'acme_thing')
  const backend = await startBackend(t, (request, response) => {
    if (request.url?.endsWith('.whl')) response.end(wheel.content)
    else response.setHeader('Content-Type', 'text/html').end(`<a href="${wheel.name}">${wheel.name}</a>`)
  })
  const { sh, userId, home } = await start(t, backend.url)
  mkdirSync(join(home, '.cache'))
  await sh('pip')
  isFrom(t, backend, userId)
})

t.test('rclone lists a bucket with the command of the page', async (t) => {
  const backend = await startS3Backend(t, 'signing-secret')
  const { gateway, sh, userId } = await start(t, backend.url)
  const listed = await sh('rclone', 0, {
    RCLONE_CONFIG_S3_TYPE: 's3',
    RCLONE_CONFIG_S3_PROVIDER: 'Other',
    RCLONE_CONFIG_S3_ENDPOINT: gateway.url,
    RCLONE_CONFIG_S3_ACCESS_KEY_ID: 'id',
    RCLONE_CONFIG_S3_SECRET_ACCESS_KEY: 'signing-secret',
  })
  t.equal(listed, '')
  t.ok(backend.requests.length > 0)
  for (const { request, isSigned } of backend.requests) {
    t.ok(isSigned)
    t.equal(request.headers['x-user-id'], userId)
  }
})

t.test('a client of registries signs in with the command of the page', async (t) => {
  const backend = await startBackend(t, (_request, response) => response.end('{}'))
  const { gateway, snippet, home, key, userId } = await start(t, backend.url)
  // docker itself signs in through its daemon.
  const command = snippet('docker, containerd, skopeo', 'sh')
    .replace('docker login', 'skopeo login --tls-verify=false')
    .replace('registry.example.com', new URL(gateway.url).host)
  const env = { KEY: key, REGISTRY_AUTH_FILE: join(home, 'auth.json') }
  t.match(await runProgram(['sh', '-ec', command], { cwd: home, env }), 'Login Succeeded')
  t.equal(backend.last().url, '/v2/')
  isFrom(t, backend, userId)
})
