import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isBinary, readProgramFile } from '#platform/package.ts'
import type { ConfigInput } from './load.ts'
import { shippedConfig } from './read-config-file.ts'

/** In the working directory: the program's own folder may be read-only. */
const folder = 'data/demo'

/**
 * The config of a demo: the one that comes with the program, unless one is named or is in the working directory. Its
 * data is kept in the working directory in any case, and so is the config itself if the program is a single file.
 */
export function demoConfig(given: ConfigInput, env = process.env): ConfigInput {
  if (given.file !== undefined || env.GATEHOUSE_CONFIG || existsSync('config/gateway.yaml')) return given
  const file = isBinary ? writeShippedConfig() : shippedConfig('gateway.yaml')
  if (file === undefined) return given
  const settings = [
    `store.sqlite.path=${resolve(folder, 'gatehouse.db')}`,
    `keys.sealingKey.file=${resolve(folder, 'sealing.key')}`,
  ]
  return { ...given, file, settings: [...settings, ...(given.settings ?? [])] }
}

function writeShippedConfig(): string {
  const file = join(folder, 'gateway.yaml')
  mkdirSync(folder, { recursive: true })
  writeFileSync(file, readProgramFile(new URL('../../config/gateway.yaml', import.meta.url)))
  return file
}
