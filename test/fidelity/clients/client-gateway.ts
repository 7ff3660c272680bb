import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { startGateway, type TestGateway } from '../../setup/gateway.ts'

/** A gateway with one route that asks for a credential, and someone who has one. */
export interface ClientPlace {
  readonly gateway: TestGateway
  readonly url: string
  readonly secretKey: string
  readonly accessToken: string
  readonly accountId: string
}

export async function startPlace(
  t: Test,
  backend: string,
  route: Readonly<Record<string, unknown>> = {},
): Promise<ClientPlace> {
  const all = { name: 'all', path: '/', upstream: 'backend', auth: 'any', maxBody: 'unlimited' }
  const gateway = await startGateway(t, { backend, config: { routes: [{ ...all, ...route }] } })
  const created = await gateway.createAccount()
  const { JwtToken } = await gateway.tokens(created)
  const { secretKey, account } = created
  return { gateway, url: gateway.url, secretKey, accessToken: JwtToken, accountId: account.id }
}

export function tempFolder(t: Test): string {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-client-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** What a program said, and how it ended. */
export interface Said {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a real client, without the settings of the user who runs the tests. */
export function runClient(
  program: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Promise<Said> {
  const { cwd, env } = options
  const clean = { PATH: process.env.PATH ?? '', HOME: cwd, LANG: 'C.UTF-8', NO_UPDATE_NOTIFIER: '1', ...env }
  return new Promise((resolve) => {
    execFile(
      program,
      args,
      { cwd, env: clean, maxBuffer: 200 * 1_048_576, encoding: 'latin1', timeout: 60_000 },
      (error, stdout, stderr) => {
        const status = error ? (typeof error.code === 'number' ? error.code : -1) : 0
        resolve({ status, stdout, stderr })
      },
    )
  })
}
