import { basename, dirname, resolve } from 'node:path'
import { stringify } from 'yaml'

/** What a new config is made from. */
export interface NewConfig {
  /** Where the backend listens. */
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
  const data = dataFolder(file)
  return [
    '# Written by `gatehouse init`. Validate it after changes: gatehouse check',
    '# Every option and its default: docs/configuration.md',
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

function dataFolder(file: string): string {
  return basename(dirname(resolve(file))) === 'config' ? '../data' : 'data'
}

/** Anything but a number remains text, which the check of the config reports as it was given. */
function numberOr(text: string): number | string {
  return /^\d+$/.test(text) ? Number(text) : text
}
