import type { RouteOptions } from '../routes/compile.ts'
import type { Algorithm, KeyMaterial } from '../tokens/key-material.ts'
import type { Balancing } from '../upstream/balance.ts'
import type { HealthTerms } from '../upstream/health.ts'

/**
 * The config as the program uses it: every option resolved, times in milliseconds, sizes in bytes, paths
 * absolute, secrets read. Frozen: a reload makes another one.
 */
export interface Config {
  /** Origin that clients see, such as `https://api.example.com`. */
  readonly publicOrigin: string
  readonly listen: {
    readonly host: string
    readonly port: number
    /** Processes that share the port, at least 1. */
    readonly workers: number
    /** undefined = plain HTTP. */
    readonly tls: ServerTls | undefined
    readonly requestTimeoutMs: number
    readonly keepAliveTimeoutMs: number
    readonly headersBytesMax: number
  }
  readonly ops: { readonly host: string; readonly port: number }
  readonly trustedProxies: readonly AddressRange[]
  readonly upstreams: readonly UpstreamConfig[]
  readonly routes: readonly RouteOptions[]
  readonly identityHeaders: IdentityHeaders
  readonly assertion: AssertionConfig
  readonly tokens: TokensConfig
  readonly cookie: CookieConfig
  /** Origins as browsers send them; none = CORS is left to the upstreams. */
  readonly cors: { readonly origins: readonly string[] }
  readonly portal: PortalConfig
  /** undefined = no mail can be sent. */
  readonly mail: MailConfig | undefined
  readonly keys: {
    readonly sealingKey: SecretSource
    /** Whether a sealed copy of each key is kept, to be shown again. */
    readonly reveal: boolean
  }
  readonly store: SqliteConfig | RedisConfig
  readonly cache: CacheConfig
  /** Wrong credentials a client address may send. */
  readonly failures: { readonly limit: number; readonly perMs: number }
  readonly log: { readonly level: LogLevel; readonly access: boolean }
  /** undefined = no traces. */
  readonly tracing: TracingConfig | undefined
  readonly shutdown: { readonly delayMs: number; readonly drainMs: number }
}

/** What the gateway shows its clients; both in PEM. */
export interface ServerTls {
  readonly cert: string
  readonly key: string
}

/** The addresses whose first `bits` are those of `address`. */
export interface AddressRange {
  readonly address: string
  readonly bits: number
  readonly family: 'ipv4' | 'ipv6'
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** A secret that was read, or the file it is in: a sealing key may have to be made there first. */
export type SecretSource =
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'file'; readonly file: string }

export interface UpstreamConfig {
  readonly name: string
  readonly targets: readonly { readonly url: URL; readonly weight: number }[]
  readonly balancing: Balancing
  readonly health: HealthTerms
  readonly connectTimeoutMs: number
  readonly responseTimeoutMs: number
  readonly idleTimeoutMs: number
  readonly retryAttempts: number
  readonly connectionsMax: number
  readonly host: 'client' | 'target'
  readonly tls: TlsConfig
}

export interface TlsConfig {
  readonly verify: boolean
  /** PEM; undefined = the certificates of the system. */
  readonly ca: string | undefined
}

export interface IdentityHeaders {
  readonly id: string
  readonly role: string
  readonly email?: string | undefined
  readonly verified?: string | undefined
  readonly name?: string | undefined
  readonly session?: string | undefined
  readonly scheme?: string | undefined
}

/** A JWT for upstreams that says who is calling; its header is never taken from clients, enabled or not. */
export interface AssertionConfig {
  readonly enabled: boolean
  readonly header: string
  readonly lifetimeMs: number
}

export interface TokensConfig {
  readonly issuer: string
  readonly audience: string
  readonly algorithm: Algorithm
  readonly accessLifetimeMs: number
  readonly refreshLifetimeMs: number
  readonly refreshIdleMs: number
  readonly reuseGraceMs: number
  readonly clockToleranceMs: number
  /** Empty = the keys are made and kept in the store. */
  readonly keys: readonly SigningKeyConfig[]
}

export interface SigningKeyConfig {
  readonly kid: string
  readonly use: 'sign' | 'verify'
  readonly material: KeyMaterial
}

export interface TracingConfig {
  /** URL that takes traces. */
  readonly url: string
  /** From 0 to 1. */
  readonly sampleRatio: number
}

export interface CookieConfig {
  readonly name: string
  readonly path: string
  readonly sameSite: 'Strict' | 'Lax' | 'None'
  readonly isSecure: boolean
}

export interface PortalConfig {
  readonly enabled: boolean
  /** Without a slash at the end. */
  readonly path: string
  readonly sessionLifetimeMs: number
}

export interface MailConfig {
  readonly host: string
  readonly port: number
  /** `tls` from the first byte; `starttls` demands it; `none` for a server on this machine. */
  readonly security: 'tls' | 'starttls' | 'none'
  readonly username: string | undefined
  readonly password: string | undefined
  readonly from: string
  readonly tls: TlsConfig
}

export interface SqliteConfig {
  readonly driver: 'sqlite'
  readonly path: string
}

export interface RedisConfig {
  readonly driver: 'redis'
  readonly place: RedisPlace
  readonly username: string | undefined
  readonly password: string | undefined
  /** undefined = no TLS, unless the URL says rediss. */
  readonly tls: TlsConfig | undefined
  readonly keyPrefix: string
  /** How many replicas must have a change before it is answered. */
  readonly replicas: number
}

export type RedisPlace =
  | { readonly kind: 'single'; readonly url: string }
  | {
      readonly kind: 'sentinel'
      readonly name: string
      readonly nodes: readonly NodeAddress[]
      readonly password: string | undefined
    }
  | { readonly kind: 'cluster'; readonly nodes: readonly NodeAddress[] }

export interface NodeAddress {
  readonly host: string
  readonly port: number
}

export interface CacheConfig {
  readonly entriesMax: number
  readonly ttlMs: number
  readonly negativeTtlMs: number
  /** How long what is known is good with the store out of reach. */
  readonly maxStaleMs: number
}
