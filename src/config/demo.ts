import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { ConfigInput } from './load.ts'
import { shippedConfig } from './read-config-file.ts'

/**
 * The config of a demo: the one that comes with the program if none is named and none is in the working directory. Its
 * data is kept in the working directory even so: the program's own folder may be read-only.
 */
export function demoConfig(given: ConfigInput, env = process.env): ConfigInput {
  if (given.file !== undefined || env.GATEHOUSE_CONFIG || existsSync('config/gateway.yaml')) return given
  const file = shippedConfig('gateway.yaml')
  if (file === undefined) return given
  const settings = [
    `store.sqlite.path=${resolve('data/demo/gatehouse.db')}`,
    `keys.sealingKey.file=${resolve('data/demo/sealing.key')}`,
  ]
  return { ...given, file, settings: [...settings, ...(given.settings ?? [])] }
}
