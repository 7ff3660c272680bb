import type { MailServer } from '#accounts/mails/mailer.ts'
import type { Plans } from '#accounts/plan-reports.ts'
import type { OpsAddress } from '#api/ops-guard.ts'
import type { TokenCookie } from '#api/token-cookies.ts'
import type { IdentityHeaders } from '#gateway/forward/identity-headers.ts'
import type { RouteOptions } from '#gateway/routes/compile.ts'
import type { ServerOptions } from '#gateway/server/arrival-server.ts'
import type { UpstreamConfig } from '#http/client/upstream.ts'
import type { CacheLimits } from '#identity/cache/directory.ts'
import type { IssuerOptions } from '#identity/issuers/issuer.ts'
import type { OidcOptions } from '#identity/oidc/provider.ts'
import type { SecondFactorPolicy } from '#identity/second-factor/policy.ts'
import type { Algorithm } from '#identity/tokens/key-material.ts'
import type { ConfiguredKey } from '#identity/tokens/keyring.ts'
import type { AddressRange } from '#platform/addresses.ts'
import type { LogFormat, LogLevel } from '#platform/log/log.ts'
import type { SealingKeySource } from '#platform/secrets/sealing-key.ts'
import type { StoreOptions } from '#store/open.ts'
import type { Rate } from '#store/rates.ts'

/**
 * The config as the program uses it: every option resolved, times in milliseconds, sizes in bytes, paths
 * absolute, secrets read. Frozen: a reload builds another one. Options of one component have that component's type.
 */
export interface Config {
  /** Origin that clients see, such as `https://api.example.com`. */
  readonly publicOrigin: string
  readonly listen: ListenConfig
  readonly ops: OpsAddress & { readonly port: number }
  /** The listener for other proxies; undefined = there is none. */
  readonly decide: DecideConfig | undefined
  readonly trustedProxies: readonly AddressRange[]
  readonly upstreams: readonly UpstreamConfig[]
  readonly routes: readonly RouteOptions[]
  readonly identityHeaders: IdentityHeaders
  readonly assertion: AssertionConfig
  readonly tokens: TokensConfig
  /** Foreign servers whose tokens are accepted. */
  readonly issuers: readonly IssuerOptions[]
  readonly plans: Plans
  readonly cookie: TokenCookie
  /** The access token as a cookie; its attributes but name and path are those of `cookie`. */
  readonly accessCookie: TokenCookie & { readonly enabled: boolean }
  /** Origins as browsers send them; none = CORS is left to the upstreams. */
  readonly cors: { readonly origins: readonly string[] }
  readonly portal: PortalConfig
  /** undefined = no mail can be sent. */
  readonly mail: (MailServer & { readonly notices: boolean }) | undefined
  readonly keys: {
    /** Where a secret key may come: header names, `bearer`, `basic`. */
    readonly accept: readonly string[]
    /** How new keys begin. */
    readonly prefix: string
    readonly sealingKey: SealingKeySource
    /** Whether an encrypted copy of each key is stored, to be shown again. */
    readonly reveal: boolean
    /** Secret keys of one account, the default one included. */
    readonly maxPerAccount: number
  }
  readonly store: StoreOptions
  readonly cache: CacheLimits
  /** How many failed authentication attempts a client address may make. */
  readonly failures: Rate
  /** How many sessions an account may have. */
  readonly sessionsMax: number
  readonly log: { readonly level: LogLevel; readonly format: LogFormat; readonly access: boolean }
  /** undefined = no traces. */
  readonly tracing: TracingConfig | undefined
  readonly shutdown: { readonly delayMs: number; readonly drainMs: number }
}

export interface ListenConfig extends ServerOptions {
  readonly host: string
  readonly port: number
  /** Processes that share the port, at least 1. */
  readonly workers: number
}

export interface DecideConfig {
  readonly host: string
  readonly port: number
}

/** A JWT for upstreams that identifies the caller; its header is never accepted from clients, enabled or not. */
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
  /** Who may ask the gateway about tokens: these roles, and with a key or token that has scopes, all of these. */
  readonly introspection: { readonly roles: readonly string[]; readonly scopes: readonly string[] }
  /** Empty = the keys are created and kept in the store. */
  readonly keys: readonly ConfiguredKey[]
}

export interface TracingConfig {
  /** URL that accepts traces. */
  readonly url: string
  /** From 0 to 1. */
  readonly sampleRatio: number
}

export interface PortalConfig {
  readonly enabled: boolean
  /** Without a slash at the end. */
  readonly path: string
  /** The only host that has the portal, and no route, in lower case; undefined = all have it. */
  readonly host: string | undefined
  /** Where clients see it: `https://portal.example.com`. */
  readonly origin: string
  readonly sessionLifetimeMs: number
  /** Who must set up a second factor before using the portal. */
  readonly requireSecondFactor: SecondFactorPolicy
  readonly setupLinkLifetimeMs: number
  readonly resetLinkLifetimeMs: number
  /** Whether people can set a password and sign in with it. */
  readonly acceptsPasswords: boolean
  /** undefined = people sign in by password only. */
  readonly oidc: OidcOptions | undefined
}
