import { dirname, resolve } from 'node:path'
import { OperatorError } from '#platform/errors/operator-error.ts'
import { secretPlaceholder } from '#platform/secrets/hide-secrets.ts'
import { countOf } from '#platform/text.ts'
import { type Config, type ConfigSnapshot, resolveConfig } from './config.ts'
import { otelOverrides } from './otel-environment.ts'
import {
  applyOverrides,
  createSources,
  environmentOverrides,
  flagOverrides,
  type Override,
} from './overrides.ts'
import {
  type Finding,
  formatPath,
  formatSource,
  listProblems,
  type Path,
  type Problem,
  type Source,
} from './problem.ts'
import { type ConfigFile, readConfigFile } from './read-config-file.ts'
import { reviewUpstreamHeaders } from './rules/headers.ts'
import { reviewIdentity } from './rules/identity.ts'
import { reviewIssuers } from './rules/issuers.ts'
import { reviewKeyCarriers, reviewKeys } from './rules/keys.ts'
import { reviewMail, reviewPortal } from './rules/portal.ts'
import { reviewRoutes } from './rules/routes.ts'
import { reviewUpstreams } from './rules/upstreams.ts'
import { reviewAccessCookie } from './schema/access-cookie.ts'
import { reviewPlans } from './schema/accounts.ts'
import { reviewCookie, reviewCors } from './schema/browsers.ts'
import { reviewEvents } from './schema/events.ts'
import { reviewHosts, reviewListen, reviewNetwork, reviewPorts, reviewRedirect } from './schema/listeners.ts'
import type { SecretReference, SecretResult } from './schema/node.ts'
import { createReview } from './schema/review.ts'
import type { ConfigTree } from './schema/schema.ts'
import { reviewSecurityTxt } from './schema/security-txt.ts'
import { reviewStore } from './schema/store.ts'
import { reviewTokens } from './schema/tokens.ts'
import { reviewTracing } from './schema/tracing.ts'
import { createSecretReader, type Environment, nameOfSecret, optionLeaves } from './secrets.ts'
import { validate } from './validate.ts'
import { findUnreplaced, unreplacedHintAt } from './value-hints.ts'

const rules = [
  reviewNetwork,
  reviewListen,
  reviewHosts,
  reviewPorts,
  reviewRedirect,
  reviewUpstreams,
  reviewUpstreamHeaders,
  reviewRoutes,
  reviewEvents,
  reviewIssuers,
  reviewPlans,
  reviewIdentity,
  reviewTokens,
  reviewCookie,
  reviewAccessCookie,
  reviewCors,
  reviewPortal,
  reviewMail,
  reviewSecurityTxt,
  reviewKeys,
  reviewKeyCarriers,
  reviewStore,
  reviewTracing,
]

export interface ConfigInput {
  /** Default: $GATEHOUSE_CONFIG, else config/gateway.yaml. */
  readonly file?: string | undefined
  /** The content of a file that is not written yet; default: the content of the file. */
  readonly text?: string
  /** `listen.port=0`: options from the command line, which take precedence over the environment. */
  readonly settings?: readonly string[]
  readonly env?: Environment
}

/** A config that was read, with every problem found in it. */
export interface ConfigReadResult {
  readonly file: string
  /** undefined if there are problems. */
  readonly config: Config | undefined
  /** What the config was built from, so that other processes can build the same; undefined if there are problems. */
  readonly snapshot: ConfigSnapshot | undefined
  readonly problems: readonly Problem[]
  /** The options with every default filled in; only valid if there are no problems. */
  readonly tree: ConfigTree
  sourceOf(path: Path): Source
  /** A path of the config, which is relative to its file. */
  resolvePath(path: string): string
}

/** Reads the whole config and finds all problems in it. @throws OperatorError if the file cannot be read */
export function readConfig(input: ConfigInput): ConfigReadResult {
  const { text, settings = [], env = process.env } = input
  const file = configFileOf(input)
  const configFile = readConfigFile(file, text)
  const written = [...environmentOverrides(env, configFile.tree), ...flagOverrides(settings)]
  const overrides = [...otelOverrides(env, configFile.tree, written), ...written]
  return reviewConfig({ configFile, file, overrides, env })
}

interface ReviewInput {
  readonly configFile: ConfigFile
  /** Relative paths in the config are relative to it. */
  readonly file: string
  readonly overrides: readonly Override[]
  readonly env: Environment
}

/** Finds all problems of a config that was read, and resolves it if there are none. */
export function reviewConfig({ configFile, file, overrides, env }: ReviewInput): ConfigReadResult {
  const overridden = applyOverrides(configFile.tree, overrides)
  const resolvePath = (path: string) => resolve(dirname(file), path)
  const validation = validate(overridden.tree)
  const readSecret = createSecretReader(env, resolvePath)
  const review = createReview(validation, readSecret)
  if (configFile.isReadable) for (const rule of rules) rule(review)
  const sources = createSources(configFile, overridden.applied)
  const problems = findProblems({ configFile, overridden, review, sources })
  const { tree } = validation
  const resolved = problems.length === 0 ? resolveWithSecrets(tree, readSecret, resolvePath) : undefined
  const snapshot = resolved && { file, tree, secrets: resolved.secrets }
  return { file, config: resolved?.config, snapshot, problems, tree, sourceOf: sources.sourceOf, resolvePath }
}

interface Reviewed {
  readonly configFile: ConfigFile
  readonly overridden: ReturnType<typeof applyOverrides>
  readonly review: { readonly findings: readonly Finding[] }
  readonly sources: ReturnType<typeof createSources>
}

function findProblems({ configFile, overridden, review, sources }: Reviewed): readonly Problem[] {
  if (!configFile.isReadable) return configFile.problems.toSorted(byPosition)
  const withHint = (finding: Finding): Finding => {
    const hint = unreplacedHintAt(overridden.tree, finding.path)
    return hint === '' ? finding : { ...finding, message: `${finding.message}; ${hint}` }
  }
  const found = new Set(review.findings.map(({ path }) => formatPath(path)))
  const unreplaced = findUnreplaced(overridden.tree).filter(({ path }) => !found.has(formatPath(path)))
  return [
    ...configFile.problems,
    ...overridden.problems,
    ...review.findings.map(withHint).map(sources.toProblem),
    ...unreplaced.map((one) => sources.toProblem({ ...one, at: 'value' })),
  ].toSorted(byPosition)
}

/** The config of a tree without problems, and the texts of its secrets, by nameOfSecret. */
function resolveWithSecrets(
  tree: ConfigTree,
  readSecret: (reference: SecretReference) => SecretResult,
  resolvePath: (path: string) => string,
) {
  const secrets: Record<string, string> = {}
  const secret = (reference: SecretReference) => {
    const found = readSecret(reference)
    if (!('value' in found)) throw new Error('a missing secret passed validation')
    secrets[nameOfSecret(reference)] = found.value
    return found.value
  }
  return { config: resolveConfig(tree, { secret, resolvePath }), secrets }
}

export function environmentOf({ env = process.env }: Pick<ConfigInput, 'env'>): Environment {
  return env
}

/** The file of a config. An empty variable counts as unset, as that is how one is often unset. */
export function configFileOf({ file, env = process.env }: Pick<ConfigInput, 'file' | 'env'>): string {
  return file ?? (env.GATEHOUSE_CONFIG || 'config/gateway.yaml')
}

/** A config that is ready for use. */
export interface LoadedConfig {
  readonly config: Config
  readonly snapshot: ConfigSnapshot
  sourceOf(path: Path): Source
}

/** A config that cannot be used, with all its problems. */
export class ConfigError extends OperatorError {
  /** One line per problem; if there are very many, only the first. */
  readonly problems: readonly string[]

  constructor(problems: readonly Problem[], hint: string) {
    const lines = listProblems(problems)
    super([`invalid config, ${countOf(problems.length, 'problem')}:`, ...lines].join('\n  '), { hint })
    this.problems = lines
  }
}

/**
 * The config, ready for use, with what it was built from.
 * @throws ConfigError with every problem; OperatorError if the file cannot be read
 */
export function loadConfig(input: ConfigInput): LoadedConfig {
  return assertUsable(readConfig(input))
}

function assertUsable({ file, config, snapshot, problems, sourceOf }: ConfigReadResult): LoadedConfig {
  if (config && snapshot) return { config, snapshot, sourceOf }
  const places = placesOf(file, problems)
  throw new ConfigError(problems, `Fix ${places} and check the config with: gatehouse check --config ${file}`)
}

/** What has to be changed to solve the problems: an override may be wrong although the file is right. */
export function placesOf(file: string, problems: readonly Problem[]): string {
  const kinds = new Set(problems.map(({ source }) => source.kind))
  const outside = [...(kinds.has('env') ? ['the environment'] : []), ...(kinds.has('flag') ? ['--set'] : [])]
  const isInFile = kinds.size > outside.length
  return [...(isInFile ? [file] : []), ...outside].join(' and ')
}

/** In the order of the file; problems from outside the file come last. */
function byPosition(a: Problem, b: Problem): number {
  const [lineOfA, columnOfA] = positionOf(a.source)
  const [lineOfB, columnOfB] = positionOf(b.source)
  return lineOfA - lineOfB || columnOfA - columnOfB
}

function positionOf(source: Source): readonly [number, number] {
  return source.kind === 'file' ? [source.line, source.column] : [Number.MAX_SAFE_INTEGER, 0]
}

interface EffectiveOption {
  readonly path: string
  readonly value: unknown
  /** `config/gateway.yaml:12:5`, `$GATEHOUSE__…`, `--set …` or `default`. */
  readonly source: string
}

/** Every option with its effective value, and its source; secrets are shown as `[secret]`. */
export function showConfig({ tree, sourceOf }: ConfigReadResult): EffectiveOption[] {
  return optionLeaves(tree).map(({ path, value, isSecret }) => ({
    path: formatPath(path),
    value: isSecret ? secretPlaceholder : value,
    source: formatSource(sourceOf(path)),
  }))
}
