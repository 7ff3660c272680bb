import { isDeepStrictEqual } from 'node:util'
import type { Config } from './config.ts'
import type { LoadedConfig } from './load.ts'
import { formatProblem, type Path } from './problem.ts'

/** Options that a running gateway cannot change, as its listeners and its store stay open. */
const restartOnly: readonly { readonly path: Path; of(config: Config): unknown }[] = [
  { path: ['listen', 'host'], of: ({ listen }) => listen.host },
  { path: ['listen', 'port'], of: ({ listen }) => listen.port },
  { path: ['listen', 'workers'], of: ({ listen }) => listen.workers },
  { path: ['listen', 'http2'], of: ({ listen }) => listen.http2 },
  { path: ['listen', 'tls'], of: ({ listen }) => listen.tls !== undefined },
  { path: ['ops', 'host'], of: ({ ops }) => ops.host },
  { path: ['ops', 'port'], of: ({ ops }) => ops.port },
  { path: ['decide'], of: ({ decide }) => decide },
  { path: ['store'], of: ({ store }) => store },
  { path: ['keys', 'sealingKey'], of: ({ keys }) => keys.sealingKey },
  { path: ['log', 'format'], of: ({ log }) => log.format },
]

/** The changed options that require a restart, one line each; none = the config can be applied. */
export function restartProblems(running: Config, { config, sourceOf }: LoadedConfig): string[] {
  return restartOnly
    .filter(({ of }) => !isDeepStrictEqual(of(running), of(config)))
    .map(({ path }) => {
      const message = 'cannot be changed by a reload: restart the gateway, or revert the change'
      return formatProblem({ path, source: sourceOf(path), message })
    })
}
