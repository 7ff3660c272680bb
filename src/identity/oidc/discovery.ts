import type { Configuration } from 'openid-client'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { Clock } from '#platform/time.ts'
import { fetchTimeoutMs } from '../issuers/fetch-json.ts'
import { providerFetch } from './provider-fetch.ts'

interface ConfigurationFinderOptions {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string | undefined
  readonly clockToleranceMs: number
  readonly clock: Clock
}

const freshMs = 3_600_000
/** A provider that is down is asked once in this time, however many people try to sign in. */
const discoveryCooldownMs = 2_000

/**
 * Finds the metadata of the provider: its endpoints and what it supports. The provider is asked at the first sign-in,
 * and in the background once the answer is an hour old; after a failure at the next sign-in, but not within 2 s.
 * @returns a function that throws GatehouseError `sign-in-provider-unavailable`
 */
export function createConfigurationFinder(options: ConfigurationFinderOptions): () => Promise<Configuration> {
  const { clock } = options
  let known: { readonly configuration: Configuration; readonly at: number } | undefined
  let failed: { readonly error: unknown; readonly at: number } | undefined
  let pending: Promise<Configuration> | undefined

  /** One request for all waiting callers. */
  function refresh(): Promise<Configuration> {
    pending ??= discover(options)
      .then(
        (configuration) => {
          known = { configuration, at: clock() }
          failed = undefined
          return configuration
        },
        (error: unknown) => {
          failed = { error, at: clock() }
          throw error
        },
      )
      .finally(() => {
        pending = undefined
      })
    return pending
  }

  const isCoolingDown = () => failed !== undefined && isRecent(failed.at, discoveryCooldownMs)
  /** Absolute, as a clock that was set back must not make anything recent for ever. */
  const isRecent = (at: number, spanMs: number) => Math.abs(clock() - at) < spanMs

  return async () => {
    if (known) {
      // A known answer still serves if the provider cannot be asked.
      if (!isRecent(known.at, freshMs) && !isCoolingDown()) refresh().catch(() => {})
      return known.configuration
    }
    if (isCoolingDown()) throw unavailable(failed?.error)
    return refresh().catch((error: unknown) => {
      throw unavailable(error)
    })
  }
}

export function unavailable(cause: unknown): GatehouseError {
  return new GatehouseError('sign-in-provider-unavailable', { cause })
}

async function discover({
  issuer,
  clientId,
  clientSecret,
  clockToleranceMs,
}: ConfigurationFinderOptions): Promise<Configuration> {
  // Loaded at the first sign-in, so that the start does not wait for it.
  const client = await import('openid-client')
  const timeout = fetchTimeoutMs / 1_000
  const asked = await client.discovery(new URL(issuer), clientId, undefined, client.None(), {
    timeout,
    [client.customFetch]: providerFetch,
    ...(issuer.startsWith('http:') && { execute: [client.allowInsecureRequests] }),
  })
  const metadata = asked.serverMetadata()
  const configuration = new client.Configuration(
    metadata,
    clientId,
    { [client.clockTolerance]: Math.ceil(clockToleranceMs / 1_000) },
    clientAuthentication(client, clientSecret, metadata.token_endpoint_auth_methods_supported),
  )
  configuration.timeout = timeout
  configuration[client.customFetch] = providerFetch
  // The config accepts http only for a provider on this machine.
  if (issuer.startsWith('http:')) client.allowInsecureRequests(configuration)
  // Signatures are checked although the ID token comes from the provider itself (OpenID Connect Core 1.0, 3.1.3.7).
  client.enableNonRepudiationChecks(configuration)
  return configuration
}

/** The method that the provider supports; client_secret_basic if it names none (OpenID Connect Discovery 1.0, 3). */
function clientAuthentication(
  { None, ClientSecretBasic, ClientSecretPost }: typeof import('openid-client'),
  secret: string | undefined,
  supported: readonly string[] = ['client_secret_basic'],
) {
  if (secret === undefined) return None()
  const isPostOnly = !supported.includes('client_secret_basic') && supported.includes('client_secret_post')
  return isPostOnly ? ClientSecretPost(secret) : ClientSecretBasic(secret)
}
