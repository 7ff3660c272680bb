import { accountPaths } from '../../account-paths.ts'
import { callText, type Tried, type TryRoute } from '../../portal/try-it.ts'
import type { RouteOptions } from '../../routes/compile.ts'
import type { Account } from '../../store/store.ts'
import { ask, askTimeoutMs, type GatewayAnswer } from './ask.ts'
import type { PortalOptions } from './options.ts'
import type { SignedInVisit } from './visit.ts'

/** A route that an account may call by GET. */
export interface CallableRoute extends TryRoute {
  readonly auth: RouteOptions['auth']
}

/** How much of a body is shown. */
const shownCharacters = 2_000

/** The routes that would let the account pass. */
export function callableRoutes(routes: readonly RouteOptions[], account: Account): readonly CallableRoute[] {
  return routes
    .filter(({ methods, roles, verifiedOnly, auth }) => {
      if (methods !== undefined && !methods.includes('GET')) return false
      if (auth === 'none') return true
      return (roles?.includes(account.role) ?? true) && (account.isVerified || !verifiedOnly)
    })
    .map(({ name, path, host, auth }) => ({ name, path, host, auth }))
    .sort((one, other) => Number(one.auth === 'none') - Number(other.auth === 'none'))
}

/** Creates the function that calls this gateway over its own listener, as any client would. */
export function createTryIt({ gatewayUrl, identityHeaders }: PortalOptions) {
  const names = Object.values(identityHeaders).filter((name) => name !== undefined)

  function post(path: string, body: unknown): Promise<GatewayAnswer> {
    return ask(gatewayUrl(), {
      method: 'POST',
      path,
      host: undefined,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
  }

  /** Calls with an access token, whose session ends with the call. */
  async function callWithToken(route: CallableRoute, keys: Keys): Promise<GatewayAnswer> {
    const issued = await post(accountPaths.accessToken, {
      SecretKey: keys.secretKey,
      APIKey: keys.apiKey,
    })
    if (issued.status !== 200) return issued
    // The cast is sound: it is the contract of this answer.
    const { JwtToken, RefreshToken } = JSON.parse(issued.body) as Readonly<Record<string, string>>
    try {
      return await get(route, { Authorization: `Bearer ${JwtToken}` })
    } finally {
      // The answer counts where the session cannot be ended now: it stays in the list of sessions.
      await post(accountPaths.revokeToken, { token: RefreshToken }).catch(() => undefined)
    }
  }

  function get(
    { path, host }: CallableRoute,
    headers: Readonly<Record<string, string>>,
  ): Promise<GatewayAnswer> {
    return ask(gatewayUrl(), { method: 'GET', path, host, headers: { Accept: '*/*', ...headers }, body: '' })
  }

  return async function tryRoute(route: CallableRoute, visit: SignedInVisit): Promise<Tried> {
    const keys = readKeys(visit)
    if (!keys) {
      return {
        kind: 'failed',
        why: 'No copy of your keys is kept here, so they cannot be tried: use the lines above.',
      }
    }
    try {
      const isToken = route.auth === 'bearer'
      const answer = isToken
        ? await callWithToken(route, keys)
        : await get(route, route.auth === 'none' ? {} : { SecretKey: keys.secretKey })
      return {
        kind: 'answered',
        answer: {
          route: callText(route),
          status: answer.status,
          contentType: answer.contentType,
          durationMs: Math.round(answer.durationMs),
          scheme: isToken
            ? 'an access token'
            : route.auth === 'none'
              ? 'no key, as it takes none'
              : 'the secret',
          takesIdentity: route.auth !== 'none',
          identity: identityIn(answer.body, names),
          // The body may repeat what the backend was sent, and keys must not be shown unasked.
          body: hideKeys(pretty(answer.body), keys).slice(0, shownCharacters),
          isCut: answer.isCut || pretty(answer.body).length > shownCharacters,
        },
      }
    } catch (error) {
      return { kind: 'failed', why: reasonOf(error) }
    }
  }
}

function reasonOf(error: unknown): string {
  const isLate = error instanceof DOMException && error.name === 'TimeoutError'
  return isLate
    ? `No answer within ${askTimeoutMs / 1_000} seconds. The route may take longer: use the lines above.`
    : 'The gateway could not be reached from its own portal.'
}

interface Keys {
  readonly secretKey: string
  readonly apiKey: string
}

function readKeys({ acts, viewer }: SignedInVisit): Keys | undefined {
  const secretKey = acts.keys.unseal(viewer.account, 'secretKey')
  const apiKey = acts.keys.unseal(viewer.account, 'apiKey')
  return secretKey !== undefined && apiKey !== undefined ? { secretKey, apiKey } : undefined
}

/** The identity headers that a backend echoes in its answer; undefined = it echoes no headers at all. */
function identityIn(
  body: string,
  names: readonly string[],
): readonly (readonly [string, string])[] | undefined {
  const headers = readJson(body)?.headers
  if (typeof headers !== 'object' || headers === null) return undefined
  const seen = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]))
  return names.flatMap((name) => {
    const value = seen.get(name.toLowerCase())
    return value === undefined ? [] : [[name, value] as const]
  })
}

function readJson(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(body)
    // The cast is sound: it is an object, whose members are checked one by one.
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function pretty(body: string): string {
  const value = readJson(body)
  return value ? JSON.stringify(value, undefined, 2) : body
}

function hideKeys(body: string, { secretKey, apiKey }: Keys): string {
  return body
    .replaceAll(secretKey, '[your secret]')
    .replaceAll(apiKey, '[your API key]')
    .replaceAll(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, '[your access token]')
}
