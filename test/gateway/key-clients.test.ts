import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { startBoth } from '../setup/both.ts'
import { startGateway } from '../setup/gateway.ts'
import { ask } from './support/ask.ts'
import { startS3Backend } from './support/s3-backend.ts'

// uses: curl, python3, rclone

const execute = promisify(execFile)

/** Runs a program without the settings of the user who runs the tests. */
async function run(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { PATH = '' } = process.env
  const { stdout } = await execute(program, args, { env: { PATH, HOME: tmpdir(), ...env } })
  return stdout
}

/** Whether a program can be run here: a test of a client that is not installed is skipped. */
async function missing(program: string, ...args: readonly string[]): Promise<string | false> {
  return run(program, args).then(
    () => false,
    () => `${program} is not installed`,
  )
}

const everywhere = { sealingKey: { file: 'sealing.key' }, accept: ['SecretKey', 'bearer', 'basic'] }

async function start(t: Test) {
  const { backend, gateway } = await startBoth(t, { config: { keys: everywhere } })
  return { backend, gateway, user: await gateway.createAccount() }
}

const curlMissing = await missing('curl', '--version')
const pythonMissing = await missing('python3', '--version')
const pipMissing = await missing('python3', '-m', 'pip', '--version')
const rcloneMissing = await missing('rclone', 'version')

t.test(
  'curl sends a secret key as a header, a bearer token and a password',
  { skip: curlMissing },
  async (t) => {
    const { backend, gateway, user } = await start(t)
    for (const options of [
      ['-H', `SecretKey: ${user.secretKey}`],
      ['--oauth2-bearer', user.secretKey],
      ['-u', `anyone:${user.secretKey}`],
      ['-u', `:${user.secretKey}`],
      ['--anyauth', '-u', `anyone:${user.secretKey}`],
    ]) {
      for (const path of ['/key', '/any', '/optional']) {
        t.equal(
          await run('curl', ['-sS', ...options, gateway.url + path]),
          'ok',
          options.join(' ').slice(0, 20),
        )
        const { headers } = backend.last()
        const isUnasked = path === '/optional' && options.includes('--anyauth')
        t.equal(headers['x-user-id'], isUnasked ? undefined : user.account.id)
        t.notOk('authorization' in headers)
      }
    }
  },
)

t.test('Python asks for a challenge before it sends a password', { skip: pythonMissing }, async (t) => {
  const { backend, gateway, user } = await start(t)
  const program = `
import sys
from urllib.request import HTTPBasicAuthHandler, HTTPPasswordMgrWithDefaultRealm, build_opener
url, key = sys.argv[1:]
passwords = HTTPPasswordMgrWithDefaultRealm()
passwords.add_password("gatehouse", url, "anyone", key)
print(build_opener(HTTPBasicAuthHandler(passwords)).open(url).read().decode())`
  t.equal((await run('python3', ['-c', program, `${gateway.url}/key`, user.secretKey])).trim(), 'ok')
  t.equal(backend.last().headers['x-user-id'], user.account.id)
})

t.test(
  'pip downloads a package from an index that takes a key as its password',
  { skip: pipMissing },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-pip-'))
    t.teardown(() => rmSync(folder, { recursive: true, force: true }))
    await run('python3', ['-c', wheelProgram, folder])
    const wheel = readFileSync(join(folder, wheelName))
    const { backend, gateway } = await startBoth(t, {
      answer: (request, response) => {
        if (request.url?.endsWith('.whl')) response.end(wheel)
        else response.setHeader('Content-Type', 'text/html').end(`<a href="${wheelName}">${wheelName}</a>`)
      },
      config: { keys: everywhere },
    })
    const { account, secretKey } = await gateway.createAccount()
    const index = `${gateway.url}/key/simple`.replace('http://', `http://__token__:${secretKey}@`)
    const options = ['--isolated', '--no-deps', '--no-cache-dir', '--disable-pip-version-check', '-q']
    const target = join(folder, 'got')
    await run('python3', ['-m', 'pip', 'download', ...options, '-i', index, '-d', target, 'gatehouse-sample'])
    t.ok(readFileSync(join(target, wheelName)).equals(wheel))
    t.strictSame([...new Set(backend.seen.map(({ headers }) => headers['x-user-id']))], [account.id])
  },
)

const wheelName = 'gatehouse_sample-1.0-py3-none-any.whl'
const wheelProgram = `
import sys, zipfile
info = "gatehouse_sample-1.0.dist-info/"
with zipfile.ZipFile(sys.argv[1] + "/${wheelName}", "w") as wheel:
    wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: gatehouse-sample\\nVersion: 1.0\\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(info + "RECORD", "")`

t.test('a client that knows only bearer tokens streams with a secret key', async (t) => {
  const { backend, gateway } = await startBoth(t, {
    answer: (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      response.write('data: {"choices":[]}\n\n')
      response.end('data: [DONE]\n\n')
    },
    config: { keys: everywhere },
  })
  const { account, secretKey } = await gateway.createAccount()
  // The fields of the OpenAI library for Node.
  const response = await fetch(`${gateway.url}/any/v1/chat/completions`, {
    method: 'POST',
    headers: {
      Accept: 'application/json',
      'Content-Type': 'application/json',
      'User-Agent': 'OpenAI/JS 6.9.0',
      'X-Stainless-Lang': 'js',
      'X-Stainless-Package-Version': '6.9.0',
      'X-Stainless-Retry-Count': '0',
      Authorization: `Bearer ${secretKey}`,
    },
    body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'Hello' }] }),
  })
  t.equal(response.status, 200)
  t.match(await response.text(), /\[DONE\]/)
  const { headers } = backend.last()
  t.equal(headers['x-user-id'], account.id)
  t.notOk('authorization' in headers)
  t.equal(headers['x-stainless-lang'], 'js')
})

t.test(
  'rclone signs its requests for the backend beside a secret key',
  { skip: rcloneMissing },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-rclone-'))
    t.teardown(() => rmSync(folder, { recursive: true, force: true }))
    const backend = await startS3Backend(t, 'signing-secret')
    const route = { path: '/', upstream: 'backend', auth: 'secretKey', maxBody: 'unlimited' }
    const gateway = await startGateway(t, {
      backend: backend.url,
      config: {
        routes: [
          { ...route, name: 's3', forwardCredentials: true },
          { ...route, name: 'stripped', path: '/stripped', forwardCredentials: false },
        ],
      },
    })
    const { account, secretKey } = await gateway.createAccount()
    const env = {
      RCLONE_CONFIG: join(folder, 'none'),
      RCLONE_CONFIG_S3_TYPE: 's3',
      RCLONE_CONFIG_S3_PROVIDER: 'Other',
      RCLONE_CONFIG_S3_ACCESS_KEY_ID: 'signer',
      RCLONE_CONFIG_S3_SECRET_ACCESS_KEY: 'signing-secret',
      RCLONE_CONFIG_S3_ENDPOINT: gateway.url,
      RCLONE_CONFIG_S3_FORCE_PATH_STYLE: 'true',
      RCLONE_CONFIG_S3_NO_CHECK_BUCKET: 'true',
    }
    const withKey = ['--header', `SecretKey: ${secretKey}`, '--retries', '1', '--low-level-retries', '1']
    const [sent, got] = [join(folder, 'sent file.bin'), join(folder, 'got.bin')]
    writeFileSync(sent, randomBytes(1_048_576))

    await run('rclone', ['copyto', sent, 'S3:bucket/a folder/file.bin', ...withKey], env)
    await run('rclone', ['copyto', 'S3:bucket/a folder/file.bin', got, ...withKey], env)
    t.ok(readFileSync(got).equals(readFileSync(sent)))
    t.ok(backend.requests.length >= 2)
    for (const { request, isSigned } of backend.requests) {
      t.ok(isSigned, `${request.method} ${request.url} is signed`)
      t.equal(request.headers['x-user-id'], account.id)
    }

    const { length } = backend.requests
    await t.rejects(
      run('rclone', ['copyto', sent, 'S3:bucket/b', '--retries', '1', '--low-level-retries', '1'], env),
    )
    t.equal(backend.requests.length, length, 'a signature alone is no credential of the gateway')
    const signature = 'Authorization: AWS4-HMAC-SHA256 Credential=a'
    await ask(t, gateway.url, 'GET /stripped', [`SecretKey: ${secretKey}`, signature])
    t.notOk('authorization' in (backend.requests.at(-1)?.request.headers ?? {}))
  },
)
