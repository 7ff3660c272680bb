import { join } from 'node:path'
import type { RouteOptions } from '#gateway/routes/compile.ts'
import type { UpstreamConfig } from '#http/upstream/upstream-config.ts'
import { OperatorError } from '#platform/errors/operator-error.ts'
import { isRecord } from '#platform/json.ts'
import type { Config } from './config.ts'
import { ConfigError, placesOf, reviewConfig } from './load.ts'
import { environmentOverrides } from './overrides.ts'
import { formatPath, type Problem } from './problem.ts'
import { type ConfigFile, readConfigFile } from './read-config-file.ts'
import type { SchemaNode } from './schema/node.ts'
import { route as routeSchema } from './schema/route.ts'
import { type ConfigTree, configSchema, limits as limitsSchema } from './schema/schema.ts'

/** The sections that apply to an app that hosts Gatehouse, which has its own listener, routes and log. */
const appSections = [
  'version',
  'publicUrl',
  'trustedProxies',
  'clientCertificateHeader',
  'identity',
  'tokens',
  'dpop',
  'plans',
  'cookie',
  'keys',
  'store',
  'cache',
  'limits',
] as const

/** The limits that apply to an app; all others are about the gateway's own listeners. */
const appLimits: readonly string[] = ['failures', 'sessions'] satisfies (keyof ConfigTree['limits'])[]

type DeepPartial<Value> = Value extends readonly unknown[]
  ? Value
  : Value extends object
    ? { readonly [Name in keyof Value]?: DeepPartial<Value[Name]> }
    : Value

/**
 * A config as an app writes it: the options of the config file, in code. Relative paths are relative to the working
 * directory.
 */
export type AppConfigOptions = DeepPartial<Pick<ConfigTree, (typeof appSections)[number]>>

/**
 * The config of an app that hosts Gatehouse: options, or the path of a config file, whose sections about the gateway's
 * own listeners, routes and upstreams are not used, and are optional.
 * @throws ConfigError with every problem; OperatorError if the file cannot be read
 */
export function loadAppConfig(source: AppConfigOptions | string): Config {
  const { env } = process
  const isFile = typeof source === 'string'
  if (!isFile && !isRecord(source))
    throw new OperatorError('the config must be an object or the path of a file')
  const file = isFile ? source : join(process.cwd(), 'config')
  const configFile = withoutRoutes(isFile ? readConfigFile(source) : optionsOf(source))
  const overrides = isFile ? environmentOverrides(env, configFile.tree) : []
  const { config, problems } = reviewConfig({ configFile, file, overrides, env })
  if (!config)
    throw new ConfigError(
      problems,
      isFile ? `Fix ${placesOf(file, problems)}.` : 'Fix the options of the plugin.',
    )
  // Only routes of a gateway name issuers or take the cookie: keys need not be fetched, nor the cookie set.
  return { ...config, issuers: [], accessCookie: { ...config.accessCookie, enabled: false } }
}

/** The options in code as if they had been read from a file; options that an app does not use are problems. */
function optionsOf(options: Readonly<Record<string, unknown>>): ConfigFile {
  const { limits, keys } = options
  const unused = [
    ...unusedOptions(options, configSchema, appSections).map((name) => [name]),
    ...unusedOptions(limits, limitsSchema, appLimits).map((name) => ['limits', name]),
    // A gateway on the same store reminds owners of the keys.
    ...(isRecord(keys) && 'remind' in keys ? [['keys', 'remind']] : []),
  ]
  return appFile(
    withAppPaths(options),
    unused.map((path) => ({ path, message: 'is an option of the standalone gateway: an app has its own' })),
  )
}

/** The options of a section that are known but not used by an app. */
function unusedOptions(section: unknown, schema: SchemaNode, used: readonly string[]): readonly string[] {
  if (!isRecord(section)) return []
  return Object.keys(schema.properties ?? {}).filter(
    (name) => Object.hasOwn(section, name) && !used.includes(name),
  )
}

/** A problem of options in code, which have no position. */
type AppProblem = Pick<Problem, 'path' | 'message'>

/** Options in code, in the form of a file that was read. */
function appFile(tree: Record<string, unknown>, problems: readonly AppProblem[] = []): ConfigFile {
  const source = { kind: 'app' } as const
  return {
    // A copy, as defaults are filled in.
    tree: structuredClone(tree),
    problems: problems.map((problem) => ({ source, ...problem })),
    isReadable: true,
    locate: () => source,
    locateKey: () => source,
  }
}

/** Sets the gateway's default files, relative to the working directory. */
function withAppPaths(options: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { keys = {}, store = {} } = options
  const sqlite = isRecord(store) ? (store.sqlite ?? {}) : {}
  return {
    ...options,
    keys: isRecord(keys) ? { sealingKey: { file: 'data/sealing.key' }, ...keys } : keys,
    store:
      isRecord(store) && store.driver !== 'redis' && store.redis === undefined && isRecord(sqlite)
        ? { ...store, sqlite: { path: 'data/gatehouse.db', ...sqlite } }
        : store,
  }
}

/** A gateway requires routes and upstreams; an app may use the file of one. */
function withoutRoutes(configFile: ConfigFile): ConfigFile {
  const { tree } = configFile
  return { ...configFile, tree: { upstreams: {}, routes: [], ...tree } }
}

/** Options of one route of an app, as in the section `routes` of the config file, and those of its upstream. */
export interface AppRouteInput {
  readonly route: Readonly<Record<string, unknown>>
  readonly upstream: Readonly<Record<string, unknown>>
  /** What the app calls options that have another name in the config file, such as `targets[0].url`. */
  readonly names?: Readonly<Record<string, string>>
  /** What is wrong with the options of the route, other than by the rules of the config file. */
  readonly problems?: readonly AppProblem[]
}

/** Options of a route in the config file that an app must not use, as they would have no effect. */
export function unusedRouteOptions(
  options: Readonly<Record<string, unknown>>,
  used: readonly string[],
): readonly AppProblem[] {
  return unusedOptions(options, routeSchema, used).map((name) => ({
    path: [name],
    message: 'is an option of the standalone gateway, and has no effect here',
  }))
}

/**
 * Checks the options of a route in an app by the rules of the config file, and resolves them.
 * @param caller named in the error
 * @throws ConfigError with every problem
 */
export function resolveAppRoute(
  { route, upstream, names = {}, problems: known = [] }: AppRouteInput,
  caller: string,
): { readonly route: RouteOptions; readonly upstream: UpstreamConfig } {
  const configFile = appFile(
    { upstreams: { app: upstream }, routes: [{ ...route, upstream: 'app' }] },
    known.map(({ path, message }) => ({ path: ['routes', 0, ...path], message })),
  )
  const reviewed = reviewConfig({
    configFile,
    file: join(process.cwd(), 'config'),
    overrides: [],
    env: process.env,
  })
  const resolved = { route: reviewed.config?.routes[0], upstream: reviewed.config?.upstreams[0] }
  if (resolved.route && resolved.upstream) return { route: resolved.route, upstream: resolved.upstream }
  // The options are in a call, not in sections.
  const problems = reviewed.problems.map((problem) => {
    const path = problem.path.slice(2)
    const name = names[formatPath(path)]
    return { ...problem, path: name === undefined ? path : [name] }
  })
  throw new ConfigError(problems, `Fix the options of ${caller}.`)
}
