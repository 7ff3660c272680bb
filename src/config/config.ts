import { dirname, resolve } from 'node:path'
import { type ResolvedOf, resolveField, type SecretLookup } from './schema/node.ts'
import { type ConfigTree, configSchema } from './schema/schema.ts'
import { nameOfSecret } from './secrets.ts'

type Sections = ResolvedOf<typeof configSchema>
type Limits = Sections['limits']

/**
 * The config as the program uses it: every option resolved, times in milliseconds, sizes in bytes, paths absolute,
 * secrets read. What an option means is said in `schema/`; here is what differs from the sections of the file. Frozen:
 * a reload builds another one.
 */
export interface Config
  extends Omit<Sections, 'version' | 'identity' | 'limits' | 'listen' | 'portal' | 'tokens' | Cookies> {
  readonly listen: Sections['listen'] & Pick<Limits, 'headBytesMax' | 'bodyRateMin' | 'streamsMax'>
  readonly identityHeaders: Sections['identity']['headers']
  readonly assertion: Sections['identity']['assertion']
  readonly tokens: Sections['tokens'] & { readonly issuer: string }
  /** How many failed authentication attempts a client address may make. */
  readonly failures: Limits['failures']
  readonly sessionsMax: number
  readonly cookie: Omit<Sections['cookie'], 'secure'> & CookieSecurity
  readonly accessCookie: Sections['accessCookie'] & CookieSecurity
  readonly portal: Sections['portal'] & {
    /** The origin at which clients see it: `https://portal.example.com`. */
    readonly origin: string
    /** Where clients find it: `origin` with `path`. */
    readonly url: string
    /** Whether people can set a password and sign in with it. */
    readonly acceptsPasswords: boolean
  }
}

type Cookies = 'cookie' | 'accessCookie'
type CookieSecurity = Pick<Sections['cookie'], 'sameSite'> & { readonly isSecure: boolean }

/** The config as the program uses it, from a tree without problems. */
export function resolveConfig(tree: ConfigTree, lookup: SecretLookup): Config {
  const {
    version: _,
    identity,
    limits,
    cookie: { secure, ...cookie },
    ...sections
  } = resolveField(configSchema, tree, lookup)
  const { publicOrigin, listen, portal, tokens, accessCookie } = sections
  const { headBytesMax, bodyRateMin, streamsMax, sessionsMax, failures } = limits
  const isSecure = secure === 'auto' ? publicOrigin.startsWith('https:') : secure
  const origin = originOf(publicOrigin, portal.host)
  const acceptsPasswords = portal.oidc.every((provider) => provider.acceptsPasswords)
  return deepFreeze({
    ...sections,
    listen: { ...listen, headBytesMax, bodyRateMin, streamsMax },
    identityHeaders: identity.headers,
    assertion: identity.assertion,
    tokens: { ...tokens, issuer: tokens.issuer ?? publicOrigin },
    failures,
    sessionsMax,
    cookie: { ...cookie, isSecure },
    accessCookie: { ...accessCookie, sameSite: cookie.sameSite, isSecure },
    portal: {
      ...portal,
      origin,
      url: origin + portal.path,
      // A provider may require a second factor itself.
      requireSecondFactor: acceptsPasswords ? portal.requireSecondFactor : 'nobody',
      acceptsPasswords: portal.enabled && acceptsPasswords,
    },
  })
}

/** The scheme and port of publicUrl, with the host of the portal. */
function originOf(publicOrigin: string, host: string | undefined): string {
  const url = new URL(publicOrigin)
  if (host !== undefined) url.hostname = host
  return url.origin
}

/** Freezes plain maps and lists, but not URLs and keys. */
function deepFreeze<Value>(value: Value): Value {
  if (Array.isArray(value)) value.forEach(deepFreeze)
  else if (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype) {
    Object.values(value).forEach(deepFreeze)
  } else return value
  return Object.freeze(value)
}

/**
 * Everything that a config was built from, as plain JSON, so that another process can build the same even if files have
 * changed.
 */
export interface ConfigSnapshot {
  /** The config file, which relative paths are relative to. */
  readonly file: string
  readonly tree: ConfigTree
  /** The texts of the secrets, by nameOfSecret. */
  readonly secrets: Readonly<Record<string, string>>
}

/** The config that a snapshot was taken of. It contains secrets, and must not be logged. */
export function restoreConfig({ file, tree, secrets }: ConfigSnapshot): Config {
  return resolveConfig(tree, {
    secret: (reference) => secrets[nameOfSecret(reference)] ?? '',
    resolvePath: (path) => resolve(dirname(file), path),
  })
}
