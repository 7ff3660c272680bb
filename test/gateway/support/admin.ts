import type { Test } from 'tap'
import type { CreatedAccount } from '#accounts/accounts.ts'
import { type StoreDriver, startGateway, type TestGateway } from '../../setup/gateway.ts'
import type { RawResponse } from '../../setup/raw-client.ts'
import { ask } from './ask.ts'
import { type Described, readDocument } from './openapi.ts'

export const adminPath = '/api/v1/admin/accounts'

export interface AdminApi {
  readonly gateway: TestGateway
  readonly admin: CreatedAccount
  readonly described: Described
  /** A call by the Admin; its answer, whatever it is, is as the OpenAPI document says. */
  call(operation: string, path: string, body?: unknown): Promise<RawResponse>
  /** The same with other header fields instead of the Admin's key. */
  callAs(headers: readonly string[], operation: string, path: string, body?: unknown): Promise<RawResponse>
}

/** A gateway with an Admin, for calls from outside. */
export async function startAdminApi(
  t: Test,
  driver: StoreDriver,
  config: Readonly<Record<string, unknown>> = {},
): Promise<AdminApi> {
  const gateway = await startGateway(t, { driver, config })
  const admin = await gateway.createAccount({ email: 'admin@example.com', role: 'Admin' })
  const described = await readDocument(gateway.url)

  async function callAs(headers: readonly string[], operation: string, path: string, body?: unknown) {
    const [method = ''] = operation.split(' ')
    const text = body === undefined ? undefined : JSON.stringify(body)
    const type = body === undefined ? [] : ['Content-Type: application/json']
    const response = await ask(t, gateway.url, `${method} ${path}`, [...headers, ...type], text)
    described.assert(t, operation, response)
    return response
  }

  return {
    gateway,
    admin,
    described,
    callAs,
    call: (operation, path, body) => callAs([`SecretKey: ${admin.secretKey}`], operation, path, body),
  }
}

export const operations = {
  list: 'GET /api/v1/admin/accounts',
  create: 'POST /api/v1/admin/accounts',
  get: 'GET /api/v1/admin/accounts/{id}',
  update: 'PATCH /api/v1/admin/accounts/{id}',
  remove: 'DELETE /api/v1/admin/accounts/{id}',
  resetSecretKey: 'POST /api/v1/admin/accounts/{id}/secret-key',
  resetApiKey: 'POST /api/v1/admin/accounts/{id}/api-key',
  listKeys: 'GET /api/v1/admin/accounts/{id}/keys',
  createKey: 'POST /api/v1/admin/accounts/{id}/keys',
  revokeKey: 'DELETE /api/v1/admin/accounts/{id}/keys/{name}',
  listSessions: 'GET /api/v1/admin/accounts/{id}/sessions',
  endSessions: 'DELETE /api/v1/admin/accounts/{id}/sessions',
  resetSecondFactor: 'DELETE /api/v1/admin/accounts/{id}/second-factor',
  apply: 'POST /api/v1/admin/apply',
  audit: 'GET /api/v1/admin/audit',
} as const
