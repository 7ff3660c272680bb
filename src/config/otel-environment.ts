import type { Override } from './overrides.ts'
import { isPathPrefix, type Path, valueAt } from './problem.ts'
import type { Environment } from './secrets.ts'
import { parsePairs } from './units.ts'

const section: Path = ['tracing', 'otlp']

/**
 * Options of `tracing` from the variables that OpenTelemetry's SDKs read (its specification, "Environment Variable
 * Specification" and "OTLP Exporter Configuration"). The file, `GATEHOUSE__…` and `--set` take precedence over them. If
 * neither these nor a variable names an endpoint, nothing is traced.
 * @param overrides the other options that take precedence over the file
 */
export function otelOverrides(env: Environment, tree: unknown, overrides: readonly Override[]): Override[] {
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || env.OTEL_TRACES_EXPORTER === 'none') return []
  // An endpoint for gRPC cannot be used: the exporter speaks HTTP.
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? env.OTEL_EXPORTER_OTLP_PROTOCOL
  const offered = [
    ...(protocol === 'grpc' ? [] : endpoint(env)),
    ...headers(env),
    ...sampleRatio(env),
    ...resource(env),
  ]
  const found = offered.filter(({ path }) => !isSet(path, tree, overrides))
  const endpointPath = [...section, 'endpoint']
  const isTraced =
    isSet(endpointPath, tree, overrides) || found.some(({ path }) => path.at(-1) === 'endpoint')
  return isTraced ? found : []
}

function isSet(path: Path, tree: unknown, overrides: readonly Override[]): boolean {
  return valueAt(tree, path) !== undefined || overrides.some((other) => isPathPrefix(other.path, path))
}

/** The variable for traces has the whole URL; its usual path is cut off, as the exporter adds that itself. */
function endpoint(env: Environment): Override[] {
  const name = 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'
  const traces = /^(.+)\/v1\/traces\/?$/.exec(env[name] ?? '')?.[1]
  if (traces !== undefined) return [override(name, ['endpoint'], traces)]
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT
  return base ? [override('OTEL_EXPORTER_OTLP_ENDPOINT', ['endpoint'], base)] : []
}

/** A reference to the variable, as its value is a secret. */
function headers(env: Environment): Override[] {
  const name = ['OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'OTEL_EXPORTER_OTLP_HEADERS'].find((each) => env[each])
  return name === undefined ? [] : [override(name, ['headers'], { env: name })]
}

function sampleRatio(env: Environment): Override[] {
  const name = 'OTEL_TRACES_SAMPLER'
  const sampler = env[name]?.replace('parentbased_', '')
  if (sampler === 'always_on') return [override(name, ['sampleRatio'], 1)]
  if (sampler === 'always_off') return [override(name, ['sampleRatio'], 0)]
  const ratio = env.OTEL_TRACES_SAMPLER_ARG
  return sampler === 'traceidratio' && ratio
    ? [override('OTEL_TRACES_SAMPLER_ARG', ['sampleRatio'], Number(ratio))]
    : []
}

function resource(env: Environment): Override[] {
  const { OTEL_RESOURCE_ATTRIBUTES: attributes = '', OTEL_SERVICE_NAME: service } = env
  const { 'service.name': named, ...others } = parsePairs(attributes)
  const at = (name: string, key: string, value: string) => override(name, ['resource', key], value)
  return [
    ...Object.entries(others).map(([key, value]) => at('OTEL_RESOURCE_ATTRIBUTES', key, value)),
    ...(service ? [at('OTEL_SERVICE_NAME', 'service.name', service)] : []),
    ...(!service && named ? [at('OTEL_RESOURCE_ATTRIBUTES', 'service.name', named)] : []),
  ]
}

function override(name: string, path: Path, value: unknown): Override {
  return { path: [...section, ...path], value, source: { kind: 'env', name } }
}
