import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withOperator } from '../src/cli/operator.ts'
import { loadConfig } from '../src/config/load.ts'
import { openGateway } from '../src/gateway.ts'
import { createLog } from '../src/log.ts'
import { answerFigures } from './figures.ts'

/** The whole gateway before the backend whose address is the argument, on SQLite. */
const dir = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'))
const file = join(dir, 'gateway.yaml')
writeFileSync(
  file,
  JSON.stringify({
    listen: { port: 0 },
    ops: { port: 0 },
    upstreams: { backend: { targets: [{ url: process.argv[2] }] } },
    routes: [
      { name: 'any', path: '/any', upstream: 'backend', auth: 'any' },
      { name: 'public', path: '/public', upstream: 'backend', auth: 'none' },
    ],
    keys: { sealingKey: { file: 'sealing.key' } },
    store: { sqlite: { path: 'gatehouse.db' } },
    tokens: { accessLifetime: '1h' },
    log: { level: 'warn', access: false },
  }),
)
const input = { file, env: {} }
const config = loadConfig(input)
const gateway = await openGateway({ config, log: createLog(config.log) })
const { secretKey, apiKey } = await withOperator(input, ({ accounts }) =>
  accounts.create({
    email: 'bench@example.com',
    firstName: '',
    lastName: '',
    role: 'User',
    isVerified: true,
  }),
)
const tokens = await fetch(`${gateway.url}/api/v1/accounts/access-token`, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ SecretKey: secretKey, APIKey: apiKey }),
})
const { JwtToken } = (await tokens.json()) as { readonly JwtToken: string }
process.on('disconnect', () => {
  rmSync(dir, { recursive: true, force: true })
  process.exit()
})
answerFigures({ url: gateway.url, secretKey, accessToken: JwtToken })
