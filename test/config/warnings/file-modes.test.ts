import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { problemText } from '#config/problem.ts'
import { findInsecureFileModes } from '#config/secrets.ts'
import { makeCertificate } from '../../setup/certificates.ts'
import { minimalConfig, read, writeFiles } from '../config-fixtures.ts'

const { key, cert } = makeCertificate(t, 'DNS:localhost')

/** The warnings when the sealing key and the TLS key have these modes. */
function warnings(t: Parameters<typeof read>[0], sealingMode: number, tlsMode: number) {
  const folder = writeFiles(t, { 'sealing.key': 'x', 'tls.key': key, 'tls.crt': cert })
  const at = (name: string) => join(folder, name)
  chmodSync(at('sealing.key'), sealingMode)
  chmodSync(at('tls.key'), tlsMode)
  chmodSync(at('tls.crt'), 0o666)
  const tls = { cert: { file: at('tls.crt') }, key: { file: at('tls.key') } }
  const options = { ...minimalConfig, listen: { tls }, keys: { sealingKey: { file: at('sealing.key') } } }
  const { tree, resolvePath } = read(t, options)
  return findInsecureFileModes(tree, resolvePath).map(({ path, ...texts }) =>
    `${path.join('.')}: ${problemText(texts)}`.replaceAll(`${folder}/`, ''),
  )
}

t.test('a world-readable secret is warned of, with the command that fixes it', async (t) => {
  t.strictSame(warnings(t, 0o644, 0o600), [
    'keys.sealingKey: every user of this machine can read sealing.key (mode 0644): chmod 600 sealing.key',
  ])
})

t.test('a secret file that others can replace is warned of', async (t) => {
  t.strictSame(warnings(t, 0o600, 0o666), [
    'listen.tls.key: other users can replace tls.key (mode 0666): chmod 600 tls.key',
  ])
  t.strictSame(warnings(t, 0o620, 0o600), [
    'keys.sealingKey: other users can replace sealing.key (mode 0620): chmod 600 sealing.key',
  ])
})

t.test("a secret readable by its owner or the gateway's group is not warned of", async (t) => {
  for (const mode of [0o400, 0o600, 0o640, 0o440]) t.strictSame(warnings(t, mode, mode), [])
})

t.test('a secret whose file does not exist yet is not warned of', async (t) => {
  const { tree, resolvePath } = read(t, {
    ...minimalConfig,
    keys: { sealingKey: { file: 'none/sealing.key' } },
  })
  t.strictSame(findInsecureFileModes(tree, resolvePath), [])
})

t.test('a world-readable secret header of an upstream is warned of', async (t) => {
  const folder = writeFiles(t, { token: 'abc' })
  const file = join(folder, 'token')
  chmodSync(file, 0o644)
  const set = { Authorization: { file }, 'X-Text': 'abc' }
  const upstreams = { backend: { ...minimalConfig.upstreams.backend, headers: { set } } }
  const { tree, resolvePath } = read(t, { ...minimalConfig, upstreams })
  t.match(findInsecureFileModes(tree, resolvePath), [
    { path: ['upstreams', 'backend', 'headers', 'set', 'Authorization'], message: /mode 0644/ },
  ])
})

t.test('the secret of each OpenID client is one of them', async (t) => {
  const folder = writeFiles(t, { secret: 'x' })
  const file = join(folder, 'secret')
  chmodSync(file, 0o644)
  const at = (name: string) => {
    const [issuer, clientSecret] = [`https://${name}.example.com`, { file }]
    return { name, label: name, issuer, clientId: 'gatehouse', clientSecret }
  }
  const paths = (oidc: object) => {
    const { tree, resolvePath } = read(t, { ...minimalConfig, portal: { oidc } })
    return findInsecureFileModes(tree, resolvePath).map(({ path }) => path.join('.'))
  }
  t.strictSame(paths(at('a')), ['portal.oidc.clientSecret'])
  t.strictSame(paths([at('a'), at('b')]), ['portal.oidc.0.clientSecret', 'portal.oidc.1.clientSecret'])
})

t.test('every secret of the schema is one of them, and what is public is not', async (t) => {
  const folder = writeFiles(t, { secret: 'x', 'tls.key': key, 'tls.crt': cert })
  const at = (name: string) => {
    const file = join(folder, name)
    chmodSync(file, 0o666)
    return { file }
  }
  const { backend } = minimalConfig.upstreams
  const { tree, resolvePath } = read(t, {
    ...minimalConfig,
    listen: { tls: { cert: at('tls.crt'), key: { env: 'KEY' }, clientCa: at('tls.crt') } },
    upstreams: {
      backend: { ...backend, tls: { ca: at('tls.crt'), cert: at('tls.crt'), key: at('tls.key') } },
    },
    issuers: [
      {
        name: 'corp',
        issuer: 'https://id.example.com',
        audiences: ['api'],
        introspection: {
          url: 'https://id.example.com/introspect',
          clientId: 'a',
          clientSecret: at('secret'),
        },
      },
    ],
    events: [{ url: 'https://a.example.com', secret: at('secret') }],
    tracing: { otlp: { endpoint: 'https://otlp.example.com', headers: at('secret') } },
    mail: { host: 'mail', from: 'a@example.com', password: at('secret'), tls: { ca: at('tls.crt') } },
    tokens: { keys: [{ kid: 'a', use: 'verify', public: at('tls.crt'), private: at('tls.key') }] },
    store: {
      driver: 'redis',
      redis: {
        url: at('secret'),
        password: at('secret'),
        sentinel: { name: 'main', nodes: ['a:1'], password: at('secret') },
        tls: { ca: at('tls.crt') },
      },
    },
  })
  t.strictSame(
    findInsecureFileModes(tree, resolvePath)
      .map(({ path }) => path.join('.'))
      .toSorted(),
    [
      'events.0.secret',
      'issuers.0.introspection.clientSecret',
      'mail.password',
      'store.redis.password',
      'store.redis.sentinel.password',
      'store.redis.url',
      'tokens.keys.0.private',
      'tracing.otlp.headers',
      'upstreams.backend.tls.key',
    ],
  )
})
