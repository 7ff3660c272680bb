import { dirname, resolve } from 'node:path'
import { OperatorError } from '../errors.ts'
import type { Config } from './config.ts'
import { applyOverrides, environmentOverrides, flagOverrides, type Override } from './overrides.ts'
import { formatProblem, type Path, type Problem, type Source } from './problem.ts'
import { type ConfigFile, isPlainMap, readConfigFile } from './read.ts'
import { resolveConfig } from './resolve.ts'
import { createReview, isSameOrAbove } from './review.ts'
import { reviewCookie } from './rules/cookie.ts'
import { reviewIdentity } from './rules/identity.ts'
import { reviewKeys } from './rules/keys.ts'
import { reviewNetwork } from './rules/network.ts'
import { reviewRoutes } from './rules/routes.ts'
import { reviewStore } from './rules/store.ts'
import { reviewTokens } from './rules/tokens.ts'
import { reviewUpstreams } from './rules/upstreams.ts'
import type { ConfigTree } from './schema/schema.ts'
import { type Environment, readSecret } from './secrets.ts'
import { validate } from './validate.ts'

const rules = [
  reviewNetwork,
  reviewUpstreams,
  reviewRoutes,
  reviewIdentity,
  reviewTokens,
  reviewCookie,
  reviewKeys,
  reviewStore,
]

export interface ConfigInput {
  /** Default: $GATEHOUSE_CONFIG, else config/gateway.yaml. */
  readonly file?: string | undefined
  /** `listen.port=0`: options from the command line, which win over the environment. */
  readonly settings?: readonly string[]
  readonly env?: Environment
}

/** A config that was read, with every problem found in it. */
export interface ConfigReading {
  readonly file: string
  /** undefined where there are problems. */
  readonly config: Config | undefined
  readonly problems: readonly Problem[]
  /** With every default filled in; only sound where there are no problems. */
  readonly tree: ConfigTree
  sourceOf(path: Path): Source
}

/**
 * Reads the whole config and finds every problem in it at once.
 * @throws OperatorError where the file cannot be read
 */
export function readConfig({ file: given, settings = [], env = process.env }: ConfigInput): ConfigReading {
  const file = given ?? env.GATEHOUSE_CONFIG ?? 'config/gateway.yaml'
  const written = readConfigFile(file)
  const overrides = [...environmentOverrides(env, written.tree), ...flagOverrides(settings)]
  const resolvePath = (path: string) => resolve(dirname(file), path)
  const validation = validate(applyOverrides(written.tree, overrides))
  const review = createReview(validation, { env, resolvePath })
  if (written.problems.length === 0) for (const rule of rules) rule(review)
  const sourceOf = (path: Path, at: 'key' | 'value' = 'value') => findSource({ written, overrides, path, at })
  const problems =
    written.problems.length > 0
      ? written.problems
      : review.findings.map(({ path, at, message }) => ({
          source: sourceOrFile(sourceOf(path, at), written, path),
          path,
          message,
        }))
  const secret = (reference: Parameters<typeof readSecret>[0]) => {
    const read = readSecret(reference, env, resolvePath)
    return 'value' in read ? read.value : ''
  }
  const config = problems.length === 0 ? resolveConfig(validation.tree, { secret, resolvePath }) : undefined
  return { file, config, problems: problems.toSorted(byPlace), tree: validation.tree, sourceOf }
}

/**
 * The config, ready for use.
 * @throws OperatorError with every problem, a line each
 */
export function loadConfig(input: ConfigInput): Config {
  const { file, config, problems } = readConfig(input)
  if (config) return config
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
  throw new OperatorError([`the config has ${count}:`, ...problems.map(formatProblem)].join('\n  '), {
    hint: `Mend ${file} and try it with: gatehouse check --config ${file}`,
  })
}

interface Search {
  readonly written: ConfigFile
  readonly overrides: readonly Override[]
  readonly path: Path
  readonly at: 'key' | 'value'
}

function findSource({ written, overrides, path, at }: Search): Source {
  const override = overrides.findLast((candidate) => isSameOrAbove(candidate.path, path))
  if (override) return override.source
  if (!isWritten(written.tree, path)) return { kind: 'default' }
  return at === 'key' ? written.locateKey(path) : written.locate(path)
}

/** What is missing is reported at the item that lacks it, a bad default at the file's first line. */
function sourceOrFile(source: Source, written: ConfigFile, path: Path): Source {
  return source.kind === 'default' ? written.locate(path) : source
}

function isWritten(tree: unknown, path: Path): boolean {
  let place: unknown = tree
  for (const part of path) {
    if (Array.isArray(place) && typeof part === 'number' && part < place.length) place = place[part]
    else if (isPlainMap(place) && Object.hasOwn(place, part)) place = place[part]
    else return false
  }
  return true
}

/** In the order of the file; what comes from outside it last. */
function byPlace(a: Problem, b: Problem): number {
  const [lineOfA, columnOfA] = placeOf(a.source)
  const [lineOfB, columnOfB] = placeOf(b.source)
  return lineOfA - lineOfB || columnOfA - columnOfB
}

function placeOf(source: Source): readonly [number, number] {
  return source.kind === 'file' ? [source.line, source.column] : [Number.MAX_SAFE_INTEGER, 0]
}
