import type { AuthorizationResponseError, Configuration } from 'openid-client'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { Clock, EpochMs } from '#platform/time.ts'
import { createConfigurationFinder, unavailable } from './discovery.ts'
import { type ClaimNames, type Claims, hasEmail, type Person, parsePerson } from './person.ts'
import { ProviderUnreachable } from './provider-fetch.ts'

/** How people sign in to the portal at an OpenID provider: one of `portal.oidc`. */
export interface OidcOptions {
  /** Distinguishes it from other providers in URLs; undefined = it is the one that may have no name. */
  readonly name: string | undefined
  /** The URL of the provider, exactly as in its metadata and tokens. */
  readonly issuer: string
  readonly clientId: string
  /** undefined = a public client: PKCE alone proves who redeems a code. */
  readonly clientSecret: string | undefined
  /** The role of accounts that are created for people without one; undefined = none is created. */
  readonly provision: string | undefined
  readonly scopes: readonly string[]
  /** The name of the provider, as its users know it. */
  readonly label: string
  /** Whether people may also sign in by password. */
  readonly acceptsPasswords: boolean
  readonly claims: ClaimNames
}

/** The secrets that bind a sign-in to the browser that began it: only that browser has them, sealed. */
export interface SignInSecrets {
  readonly state: string
  readonly nonce: string
  /** The code verifier of PKCE (RFC 7636). */
  readonly verifier: string
  readonly startedAt: EpochMs
  /** Whether the person has to authenticate again, even if the provider remembers them. */
  readonly isFresh: boolean
}

/** An OpenID provider at which people sign in: the authorization code flow, with PKCE, state and nonce. */
export interface OidcProvider {
  /** @throws GatehouseError `sign-in-provider-unavailable`, like all of these */
  start(isFresh: boolean): Promise<{ readonly url: string; readonly secrets: SignInSecrets }>
  /**
   * Redeems the code that the browser came back with.
   * @param url the whole URL that it came back to
   * @throws GatehouseError `sign-in-refused`
   */
  finish(url: URL, secrets: SignInSecrets): Promise<AuthenticatedPerson>
  /** The page that signs the person out at the provider too; undefined = it has none. */
  signOutUrl(idToken: string | undefined): Promise<string | undefined>
}

interface AuthenticatedPerson {
  readonly person: Person
  /** For the sign-out. */
  readonly idToken: string
}

interface OidcProviderOptions {
  readonly oidc: OidcOptions
  /** Where browsers come back to; the provider has to know it. */
  readonly redirectUri: string
  /** Where they come back to after signing out. */
  readonly signedOutUri: string
  readonly clockToleranceMs: number
  readonly clock: Clock
}

export function createOidcProvider(options: OidcProviderOptions): OidcProvider {
  const { oidc, redirectUri, signedOutUri, clockToleranceMs, clock } = options
  const findConfiguration = createConfigurationFinder({ ...oidc, clockToleranceMs, clock })

  async function start(isFresh: boolean): ReturnType<OidcProvider['start']> {
    const configuration = await findConfiguration()
    const client = await import('openid-client')
    const secrets: SignInSecrets = {
      state: client.randomState(),
      nonce: client.randomNonce(),
      verifier: client.randomPKCECodeVerifier(),
      startedAt: clock(),
      isFresh,
    }
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: oidc.scopes.join(' '),
      state: secrets.state,
      nonce: secrets.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(secrets.verifier),
      code_challenge_method: 'S256',
      // Both, as some providers know only one of them. Whether it happened is shown by auth_time.
      ...(isFresh && { max_age: '0', prompt: 'login' }),
    })
    return { url: url.href, secrets }
  }

  async function finish(url: URL, secrets: SignInSecrets): Promise<AuthenticatedPerson> {
    const configuration = await findConfiguration()
    try {
      const { state, nonce, verifier, startedAt, isFresh } = secrets
      const client = await import('openid-client')
      const tokens = await client.authorizationCodeGrant(configuration, url, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
        // The person authenticated after the start, so auth_time is at most that old.
        ...(isFresh && { maxAge: Math.max(0, Math.ceil((clock() - startedAt) / 1_000)) }),
      })
      const idToken = tokens.claims()
      if (!idToken || tokens.id_token === undefined) throw new Error('no ID token')
      const claims = await claimsOf(configuration, idToken, tokens.access_token)
      const { issuer } = configuration.serverMetadata()
      const person = parsePerson({ issuer, subject: idToken.sub }, claims, oidc.claims)
      if (!person) throw new Error('the sub of the ID token cannot be stored')
      return { person, idToken: tokens.id_token }
    } catch (error) {
      throw toRefusal(error)
    }
  }

  /** All claims come from one source: `email_verified` of one says nothing about the e-mail of another. */
  async function claimsOf(
    configuration: Configuration,
    idToken: Claims & { readonly sub: string },
    accessToken: string,
  ): Promise<Claims> {
    const hasUserInfo = configuration.serverMetadata().userinfo_endpoint !== undefined
    if (hasEmail(idToken, oidc.claims) || !hasUserInfo) return idToken
    const client = await import('openid-client')
    return client.fetchUserInfo(configuration, accessToken, idToken.sub)
  }

  async function signOutUrl(idToken: string | undefined): Promise<string | undefined> {
    const configuration = await findConfiguration()
    if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined
    const client = await import('openid-client')
    return client.buildEndSessionUrl(configuration, {
      post_logout_redirect_uri: signedOutUri,
      ...(idToken !== undefined && { id_token_hint: idToken }),
      // Cognito refuses requests without this parameter, which only it has.
      ...(cognitoIssuer.test(oidc.issuer) && { logout_uri: signedOutUri }),
    }).href
  }

  return { start, finish, signOutUrl }
}

const cognitoIssuer = /^https:\/\/cognito-idp\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?\//

/** The error of an incomplete sign-in; its cause is for the log, and contains no code and no token. */
function toRefusal(error: unknown): GatehouseError {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ProviderUnreachable || cause.name === 'TimeoutError') return unavailable(cause)
  }
  const reason = describe(error)
  const detail = refusalText(error, reason)
  return new GatehouseError('sign-in-refused', {
    ...(detail !== undefined && { detail }),
    cause: new Error(reason),
  })
}

/** What people are told; undefined = the detail of the error code. */
function refusalText(error: unknown, reason: string): string | undefined {
  const refusal = providerRefusal(error)
  if (refusal !== undefined) return `The sign-in service answered “${refusal}”. Start again.`
  if (!/auth_time|End-User authentication/.test(reason)) return undefined
  return 'The sign-in service did not ask you to sign in again, or does not say when you did. Try again, or ask an administrator.'
}

/** The error that the provider returned (RFC 6749 4.1.2.1), such as `access_denied`. */
function providerRefusal(error: unknown): string | undefined {
  // The cast is sound: every member is checked, by its type.
  const { code, error: name } = error as Partial<AuthorizationResponseError>
  const isRefusal = code === 'OAUTH_AUTHORIZATION_RESPONSE_ERROR' && typeof name === 'string'
  return isRefusal && /^[a-z_]{1,40}$/.test(name) ? name : undefined
}

/** The messages, from outermost to innermost: the library's say what was wrong, without the value. */
function describe(error: unknown): string {
  const messages: string[] = []
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { error: name } = cause as { readonly error?: unknown }
    messages.push(typeof name === 'string' ? `${cause.message} (${name.slice(0, 40)})` : cause.message)
  }
  return messages.join(': ')
}
