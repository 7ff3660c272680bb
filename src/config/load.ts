import { dirname, resolve } from 'node:path'
import { OperatorError } from '../errors.ts'
import type { Config } from './config.ts'
import { layOver } from './overlay.ts'
import { environmentOverrides, flagOverrides } from './overrides.ts'
import { formatProblem, type Path, type Problem, type Source } from './problem.ts'
import { readConfigFile } from './read.ts'
import { resolveConfig } from './resolve.ts'
import { createReview } from './review.ts'
import { reviewCookie } from './rules/cookie.ts'
import { reviewIdentity } from './rules/identity.ts'
import { reviewKeys } from './rules/keys.ts'
import { reviewNetwork } from './rules/network.ts'
import { reviewPortal } from './rules/portal.ts'
import { reviewRoutes } from './rules/routes.ts'
import { reviewStore } from './rules/store.ts'
import { reviewTokens } from './rules/tokens.ts'
import { reviewUpstreams } from './rules/upstreams.ts'
import type { ConfigTree } from './schema/schema.ts'
import { type Environment, readSecret } from './secrets.ts'
import { createSources } from './sources.ts'
import { validate } from './validate.ts'

const rules = [
  reviewNetwork,
  reviewUpstreams,
  reviewRoutes,
  reviewIdentity,
  reviewTokens,
  reviewCookie,
  reviewPortal,
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
  const overlay = layOver(written.tree, [
    ...environmentOverrides(env, written.tree),
    ...flagOverrides(settings),
  ])
  const resolvePath = (path: string) => resolve(dirname(file), path)
  const validation = validate(overlay.tree)
  const review = createReview(validation, { env, resolvePath })
  if (written.problems.length === 0) for (const rule of rules) rule(review)
  const sources = createSources(written, overlay.placed)
  const problems =
    written.problems.length > 0
      ? written.problems
      : [...overlay.problems, ...review.findings.map(sources.toProblem)]
  const secret = (reference: Parameters<typeof readSecret>[0]) => {
    const read = readSecret(reference, env, resolvePath)
    return 'value' in read ? read.value : ''
  }
  const config = problems.length === 0 ? resolveConfig(validation.tree, { secret, resolvePath }) : undefined
  return { file, config, problems: problems.toSorted(byPlace), tree: validation.tree, sourceOf: sources.of }
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

/** In the order of the file; what comes from outside it last. */
function byPlace(a: Problem, b: Problem): number {
  const [lineOfA, columnOfA] = placeOf(a.source)
  const [lineOfB, columnOfB] = placeOf(b.source)
  return lineOfA - lineOfB || columnOfA - columnOfB
}

function placeOf(source: Source): readonly [number, number] {
  return source.kind === 'file' ? [source.line, source.column] : [Number.MAX_SAFE_INTEGER, 0]
}
