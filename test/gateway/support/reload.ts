import { readFileSync, writeFileSync } from 'node:fs'
import type { TestGateway } from '../../setup/gateway.ts'

/** What an ops listener answers to `POST /reload`. */
export interface ReloadAnswer {
  readonly code: number
  readonly status: string
  readonly problems?: readonly string[]
}

type Options = Readonly<Record<string, unknown>>

/** Lays options over those in the config file. */
export function rewrite(configFile: string, options: Options): void {
  const now = JSON.parse(readFileSync(configFile, 'utf8')) as Options
  writeFileSync(configFile, JSON.stringify({ ...now, ...options }))
}

export async function askForReload(opsUrl: string): Promise<ReloadAnswer> {
  const response = await fetch(`${opsUrl}/reload`, { method: 'POST' })
  return { code: response.status, ...((await response.json()) as Omit<ReloadAnswer, 'code'>) }
}

/** Lays options over those in the file and has the gateway take them. */
export function reloadWith(
  { configFile, opsUrl }: Pick<TestGateway, 'configFile' | 'opsUrl'>,
  options: Options,
): Promise<ReloadAnswer> {
  rewrite(configFile, options)
  return askForReload(opsUrl)
}

export const taken = { code: 200, status: 'taken' }
