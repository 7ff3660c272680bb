import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { stringify } from 'yaml'
import { isBinary, readProgramFile } from '#platform/package.ts'
import type { ConfigInput } from './load.ts'
import { shippedConfig } from './read-config-file.ts'

export interface NewConfig {
  readonly upstream: string
  /** Path prefix of the requests that go to it. */
  readonly path: string
  /** `auth` of the route. */
  readonly auth: string
  readonly host: string
  readonly port: string
  readonly publicUrl: string
  readonly store: string
  readonly redisUrl: string
}

/**
 * The text of a new config file. It is not checked here, but by `readConfig`, like every config.
 * @param file where it is to be written: the data is kept beside it, or beside its folder if that is called `config`
 */
export function newConfigText(file: string, options: NewConfig): string {
  const { upstream, path, auth, host, port, publicUrl, store, redisUrl } = options
  const data = basename(dirname(resolve(file))) === 'config' ? '../data' : 'data'
  return [
    '# Written by `gatehouse init`. Validate it after changes: gatehouse check',
    '# Every option and its default: gatehouse config schema',
    stringify(
      {
        version: 1,
        publicUrl,
        listen: { host, port: numberOr(port) },
        upstreams: { backend: { targets: [{ url: upstream }] } },
        routes: [{ name: 'backend', path, upstream: 'backend', auth }],
        keys: { sealingKey: { file: `${data}/sealing.key` } },
        store: {
          driver: store,
          ...(store === 'redis'
            ? { redis: { url: redisUrl } }
            : { sqlite: { path: `${data}/gatehouse.db` } }),
        },
      },
      { lineWidth: 0 },
    ),
  ].join('\n')
}

/** Anything but a number remains text, which the check of the config reports as it was given. */
function numberOr(text: string): number | string {
  return /^\d+$/.test(text) ? Number(text) : text
}

/** In the working directory: the program's own folder may be read-only. */
const folder = 'data/demo'

/**
 * The config of a demo: the one that comes with the program, unless one is named or is in the working directory. Its
 * data is kept in the working directory in any case, and so is the config itself if the program is a single file.
 */
export function demoConfig(given: ConfigInput): ConfigInput {
  if (given.file !== undefined || process.env.GATEHOUSE_CONFIG || existsSync('config/gateway.yaml'))
    return given
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
