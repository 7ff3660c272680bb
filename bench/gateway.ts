import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withOperator } from '../src/cli/operator.ts'
import { takeConfig } from '../src/config/load.ts'
import { openGateway } from '../src/gateway.ts'
import { createLog } from '../src/log.ts'
import { answerFigures } from './figures.ts'

/** The whole gateway before the backend of the first argument; on the Redis of the second, else on SQLite. */
const [backendUrl, redisUrl] = process.argv.slice(2)
const accountCount = 200
const dir = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'))
const file = join(dir, 'gateway.yaml')
writeFileSync(join(dir, 'sealing.key'), Buffer.alloc(32, 7).toString('base64'))
writeFileSync(
  file,
  JSON.stringify({
    listen: { port: 0 },
    ops: { port: 0 },
    upstreams: { backend: { targets: [{ url: backendUrl }] } },
    routes: [
      { name: 'any', path: '/any', upstream: 'backend', auth: 'any' },
      { name: 'public', path: '/public', upstream: 'backend', auth: 'none' },
    ],
    keys: { sealingKey: { file: 'sealing.key' } },
    store:
      redisUrl === undefined
        ? { sqlite: { path: 'gatehouse.db' } }
        : { driver: 'redis', redis: { url: redisUrl } },
    tokens: { accessLifetime: '1h' },
    log: { level: 'warn', access: false },
  }),
)
const input = { file, env: {} }
const load = () => takeConfig(input)
const loaded = load()
const gateway = await openGateway({ loaded, reread: load, log: createLog(loaded.config.log) })
const made = await withOperator(input, ({ accounts }) =>
  accounts.createAll(
    Array.from({ length: accountCount }, (_, index) => ({
      ...{ email: `bench${index}@example.com`, firstName: '', lastName: '', role: 'User', isVerified: true },
    })),
  ),
)

async function getTokens(pair: string) {
  const answer = await fetch(`${gateway.url}/api/v1/accounts/access-token`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: pair,
  })
  return (await answer.json()) as { readonly JwtToken: string; readonly RefreshToken: string }
}

const pairs = made.map(({ secretKey, apiKey }) => JSON.stringify({ SecretKey: secretKey, APIKey: apiKey }))
const tokens = await Promise.all(pairs.map(getTokens))
process.on('disconnect', () => {
  rmSync(dir, { recursive: true, force: true })
  process.exit()
})
answerFigures({
  url: gateway.url,
  pairs,
  secretKey: made[0]?.secretKey,
  accessToken: tokens[0]?.JwtToken,
  refreshTokens: tokens.map(({ RefreshToken }) => RefreshToken),
})
