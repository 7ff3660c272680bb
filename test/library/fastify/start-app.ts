import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import type { Test } from 'tap'
import type { AccountInput } from '#accounts/account-input.ts'
import type { CreatedAccount } from '#accounts/accounts.ts'
import { type Operator, withOperator } from '#cli/operator.ts'
import { gatehouse } from '#library/fastify.ts'
import type { TokenAnswer } from '../../setup/gateway.ts'

export interface TestApp {
  readonly app: FastifyInstance
  readonly url: string
  /** Does what a command would, on the same store. */
  operate<Result>(work: (operator: Operator) => Promise<Result>): Promise<Result>
  createAccount(input?: Partial<AccountInput>): Promise<CreatedAccount>
  tokens(account: CreatedAccount): Promise<TokenAnswer>
}

export interface TestAppOptions {
  /** Sections of the config, laid over those of the test. */
  readonly config?: Readonly<Record<string, unknown>>
  readonly server?: FastifyServerOptions
  /** Called before the plugin is registered. */
  before?(app: FastifyInstance): void
  /** Registers the routes of the app. */
  routes(app: FastifyInstance): void | Promise<void>
}

/** A Fastify app with Gatehouse, on a free port and a real store, gone with the test. */
export async function startApp(t: Test, options: TestAppOptions): Promise<TestApp> {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-app-'))
  const config = {
    keys: { sealingKey: { file: join(dir, 'sealing.key') } },
    store: { sqlite: { path: join(dir, 'gatehouse.db') } },
    limits: { failures: { limit: 1_000_000, per: '1m' } },
    ...options.config,
  }
  // What a command of an operator would use: the same store.
  const configFile = join(dir, 'gateway.yaml')
  writeFileSync(configFile, JSON.stringify({ ...config, upstreams: {}, routes: [] }))
  const app = Fastify({ forceCloseConnections: true, ...options.server })
  options.before?.(app)
  await app.register(gatehouse, { config })
  await options.routes(app)
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(async () => {
    await app.close()
    rmSync(dir, { recursive: true, force: true })
  })

  const operate: TestApp['operate'] = (work) => withOperator({ file: configFile, env: {} }, work)
  let created = 0
  return {
    app,
    url,
    operate,
    createAccount: (account = {}) => {
      const input = {
        email: `user${++created}@example.com`,
        firstName: 'Ada',
        lastName: 'Lovelace',
        role: 'User',
      }
      return operate(({ accounts }) => accounts.create({ ...input, isVerified: true, ...account }))
    },
    tokens: async ({ secretKey, apiKey }) => {
      const response = await fetch(`${url}/api/v1/accounts/access-token`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ SecretKey: secretKey, APIKey: apiKey }),
      })
      if (response.status !== 200) throw new Error(`no tokens: ${await response.text()}`)
      return (await response.json()) as TokenAnswer
    },
  }
}
