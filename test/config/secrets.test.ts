import { rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { restoreConfig } from '#config/config.ts'
import { loadConfig, readConfig } from '#config/load.ts'
import { createSecretReader } from '#config/secrets.ts'
import { makeCertificate } from '../setup/certificates.ts'
import { load, minimalConfig, problemMessages, writeFiles } from './config-fixtures.ts'

const redis = (password: object) => ({
  ...minimalConfig,
  store: { driver: 'redis', redis: { url: 'redis://a', password } },
})
const sealingKey = { 'data/sealing.key': Buffer.alloc(32, 1).toString('base64') }
const at = 'store.redis.password'

function passwordOf(config: ReturnType<typeof load>): string | undefined {
  return config.store.driver === 'redis' ? config.store.password : undefined
}

t.test('a secret is the content of a file without the line break at its end', async (t) => {
  const contents: Readonly<Record<string, string>> = {
    hunter2: 'hunter2',
    'hunter2\n': 'hunter2',
    'hunter2\r\n': 'hunter2',
    'hunter2\n\n': 'hunter2\n',
    ' hunter 2 ': ' hunter 2 ',
    pässwörd: 'pässwörd',
  }
  for (const [content, secret] of Object.entries(contents)) {
    const files = { ...sealingKey, 'config/password': content }
    t.equal(passwordOf(load(t, redis({ file: 'password' }), { files })), secret, JSON.stringify(content))
  }
})

t.test('a secret is the value of an environment variable as it stands', async (t) => {
  for (const value of ['hunter2', ' hunter2 ', 'hunter2\n', '[hunter2']) {
    const around = { files: sealingKey, env: { REDIS_PASSWORD: value } }
    t.equal(passwordOf(load(t, redis({ env: 'REDIS_PASSWORD' }), around)), value, JSON.stringify(value))
  }
})

t.test('a missing or empty secret is reported with the place it was looked for', async (t) => {
  const files = { ...sealingKey, 'config/empty': '', 'config/line': '\n' }
  const env = { EMPTY: '' }
  const cases: readonly (readonly [reference: object, complaint: string])[] = [
    [{ file: 'absent' }, 'cannot read config/absent: no such file or directory'],
    [{ file: 'empty' }, 'config/empty is empty'],
    [{ file: 'line' }, 'config/line is empty'],
    [{ file: '.' }, 'cannot read config: illegal operation on a directory'],
    [{ file: 'empty/below' }, 'cannot read config/empty/below: not a directory'],
    [{ env: 'ABSENT' }, 'the environment variable ABSENT is not set'],
    [{ env: 'EMPTY' }, 'the environment variable EMPTY is empty'],
  ]
  for (const [reference, complaint] of cases) {
    t.strictSame(
      problemMessages(t, redis(reference), { files, env }),
      [`${at}: ${complaint}`],
      JSON.stringify(reference),
    )
  }
})

t.test('a relative path of a secret is relative to the config file', async (t) => {
  const files = { ...sealingKey, 'config/a/password': 'below', 'secrets/password': 'beside' }
  t.equal(passwordOf(load(t, redis({ file: 'a/password' }), { files })), 'below')
  t.equal(passwordOf(load(t, redis({ file: '../secrets/password' }), { files })), 'beside')
  const elsewhere = join(writeFiles(t, { password: 'elsewhere' }), 'password')
  t.equal(passwordOf(load(t, redis({ file: elsewhere }), { files })), 'elsewhere', 'an absolute one does not')
})

t.test('a relative path in an override is relative to the config file, too', async (t) => {
  const files = { ...sealingKey, 'config/a': 'file', 'config/b': 'override' }
  const settings = ['store.redis.password={file: b}']
  t.equal(passwordOf(load(t, redis({ file: 'a' }), { files, settings })), 'override')
})

t.test('an unreadable secret file is reported differently from a missing one', async (t) => {
  const folder = writeFiles(t, {
    'gateway.yaml': JSON.stringify({ ...minimalConfig, keys: { sealingKey: { file: 'loop' } } }),
  })
  symlinkSync('loop', join(folder, 'loop'))
  const { problems } = readConfig({ file: join(folder, 'gateway.yaml'), env: {} })
  t.match(problems, [{ path: ['keys', 'sealingKey'], message: /too many symbolic links/ }])
})

t.test('a secret is read once, so the value checked is the value used', async (t) => {
  const names = 'DNS:localhost'
  const [old, next] = [makeCertificate(t, names), makeCertificate(t, names)]
  const tls = { cert: { file: 'tls.crt' }, key: { env: 'TLS_KEY' } }
  const folder = writeFiles(t, {
    'gateway.yaml': JSON.stringify({ ...minimalConfig, listen: { tls } }),
    'tls.crt': old.cert,
  })
  // The certificate is always renewed just before the next read.
  const env = Object.defineProperty({}, 'TLS_KEY', {
    get: () => {
      writeFileSync(join(folder, 'tls.crt'), next.cert)
      return old.key
    },
  })
  const { problems, config, snapshot } = readConfig({ file: join(folder, 'gateway.yaml'), env })
  t.strictSame(problems, [])
  // Without the line break at its end.
  t.strictSame(config?.listen.tls, { cert: old.cert.trimEnd(), key: old.key, clientCa: undefined })
  t.strictSame(snapshot && restoreConfig(snapshot).listen.tls, config?.listen.tls, 'and by every worker')
})

t.test('a secret whose file is removed after reading keeps its value', async (t) => {
  const sentinel = { name: 'main', nodes: ['a:26379'], password: { env: 'SENTINEL_PASSWORD' } }
  const store = { driver: 'redis', redis: { sentinel, password: { file: '../password' } } }
  const folder = writeFiles(t, {
    ...sealingKey,
    'config/gateway.yaml': JSON.stringify({ ...minimalConfig, store }),
    password: 'hunter2',
  })
  const env = Object.defineProperty({}, 'SENTINEL_PASSWORD', {
    get: () => {
      rmSync(join(folder, 'password'), { force: true })
      return 'hunter3'
    },
  })
  t.equal(passwordOf(loadConfig({ file: join(folder, 'config/gateway.yaml'), env }).config), 'hunter2')
})

t.test('a credential is a file of that name in the folder that systemd names', async (t) => {
  const folder = writeFiles(t, { 'redis-password': 'hunter2\n', empty: '' })
  const env = { CREDENTIALS_DIRECTORY: folder }
  const files = sealingKey
  t.equal(passwordOf(load(t, redis({ credential: 'redis-password' }), { files, env })), 'hunter2')
  const problems = (credential: unknown, environment: Readonly<Record<string, string>> = env) =>
    problemMessages(t, redis({ credential }), { files, env: environment })
  t.strictSame(problems('absent'), [`${at}: cannot read ${folder}/absent: no such file or directory`])
  t.strictSame(problems('empty'), [`${at}: ${folder}/empty is empty`])
  for (const none of [{}, { CREDENTIALS_DIRECTORY: '' }])
    t.strictSame(problems('redis-password', none), [
      `${at}: $CREDENTIALS_DIRECTORY is not set: a systemd service sets it with LoadCredential=redis-password:PATH`,
    ])
  for (const name of ['..', '.', '../redis-password', '/etc/passwd', '', 'a'.repeat(256)])
    t.match(problems(name), [/^store\.redis\.password\.credential: /], name)
  t.match(problems('a'.repeat(255)), [/cannot read/])
  t.match(problemMessages(t, redis({ credential: 'redis-password', env: 'X' }), { files, env }), [
    /set exactly one of/,
  ])
})

t.test("names on every object's prototype are not environment variables", async (t) => {
  for (const name of ['constructor', 'toString', '__proto__']) {
    t.match(createSecretReader({}, (path) => path)({ env: name }), { isMissing: true }, name)
  }
})
