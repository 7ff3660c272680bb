import { keyField } from '../auth/carriers.ts'
import { parseJson, parseJsonObject } from '../platform/json.ts'
import type { RouteOptions } from '../routes/compile.ts'
import { accessTokenPath, type PublicPath } from '../routes/own-paths.ts'
import type { Account } from '../store/account.ts'
import { callGateway, callTimeoutMs, type GatewayResponse } from './call-gateway.ts'
import type { PortalOptions, SignedInContext } from './page-context.ts'
import { requestText, type TryItOutcome, type TryItRoute } from './views/try-it.ts'

/** A route that an account may call with GET. */
export interface CallableRoute extends TryItRoute {
  readonly auth: RouteOptions['auth']
}

/** How much of a body is shown. */
const shownBodyLengthMax = 2_000

/** The routes that would admit the account. */
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

/** Creates the function that calls this gateway through its own listener, as any client would. */
export function createTryIt({ gatewayUrl, identityHeaders, carriers }: PortalOptions) {
  const names = Object.values(identityHeaders).filter((name) => name !== undefined)

  function post(path: PublicPath, body: unknown): Promise<GatewayResponse> {
    return callGateway(gatewayUrl(), {
      method: 'POST',
      path,
      host: undefined,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
  }

  /** Calls with an access token, whose session ends with the call. */
  async function callWithToken(route: CallableRoute, keys: Keys): Promise<GatewayResponse> {
    const issued = await post(accessTokenPath, {
      SecretKey: keys.secretKey,
      APIKey: keys.apiKey,
    })
    if (issued.status !== 200) return issued
    // The cast is sound: the endpoint guarantees the members.
    const { JwtToken, RefreshToken } = JSON.parse(issued.body) as Readonly<Record<string, string>>
    try {
      return await get(route, { Authorization: `Bearer ${JwtToken}` })
    } finally {
      // If the session cannot be ended now, the response still counts; the session stays in the list.
      await post('/api/v1/accounts/revoke-token', { token: RefreshToken }).catch(() => undefined)
    }
  }

  function get(
    { path, host }: CallableRoute,
    headers: Readonly<Record<string, string>>,
  ): Promise<GatewayResponse> {
    return callGateway(gatewayUrl(), {
      method: 'GET',
      path,
      host,
      headers: { Accept: '*/*', ...headers },
      body: '',
    })
  }

  return async function tryRoute(route: CallableRoute, context: SignedInContext): Promise<TryItOutcome> {
    const keys = readKeys(context)
    if (!keys) {
      return {
        kind: 'failed',
        reason: 'Your keys are not stored, so the portal cannot use them: use the code examples above.',
      }
    }
    try {
      const isToken = route.auth === 'bearer'
      const response = isToken
        ? await callWithToken(route, keys)
        : await get(
            route,
            route.auth === 'none' ? {} : Object.fromEntries([keyField(carriers, keys.secretKey)]),
          )
      return {
        kind: 'answered',
        response: {
          route: requestText(route),
          status: response.status,
          contentType: response.contentType,
          durationMs: Math.round(response.durationMs),
          scheme: isToken ? 'an access token' : route.auth === 'none' ? 'no credential' : 'the secret',
          sendsIdentity: route.auth !== 'none',
          identity: echoedIdentity(response.body, names),
          // The body may echo the request, and keys must not be shown unless revealed.
          body: redactKeys(formatBody(response.body), keys).slice(0, shownBodyLengthMax),
          isTruncated: response.isTruncated || formatBody(response.body).length > shownBodyLengthMax,
        },
      }
    } catch (error) {
      return { kind: 'failed', reason: failureReason(error) }
    }
  }
}

function failureReason(error: unknown): string {
  const isLate = error instanceof DOMException && error.name === 'TimeoutError'
  return isLate
    ? `No response within ${callTimeoutMs / 1_000} seconds. Use the code examples above for slower routes.`
    : 'The portal could not connect to the gateway listener.'
}

interface Keys {
  readonly secretKey: string
  readonly apiKey: string
}

function readKeys({ actions, viewer }: SignedInContext): Keys | undefined {
  const secretKey = actions.keys.unseal(viewer.account, 'secretKey')
  const apiKey = actions.keys.unseal(viewer.account, 'apiKey')
  return secretKey !== undefined && apiKey !== undefined ? { secretKey, apiKey } : undefined
}

/** The identity headers that a backend echoes in its response; undefined = it echoes no headers at all. */
function echoedIdentity(
  body: string,
  names: readonly string[],
): readonly (readonly [string, string])[] | undefined {
  const headers = parseJsonObject(body)?.headers
  if (typeof headers !== 'object' || headers === null) return undefined
  const echoed = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]))
  return names.flatMap((name) => {
    const value = echoed.get(name.toLowerCase())
    return value === undefined ? [] : [[name, value] as const]
  })
}

function formatBody(body: string): string {
  const value = parseJson(body)
  return typeof value === 'object' && value !== null ? JSON.stringify(value, undefined, 2) : body
}

function redactKeys(body: string, { secretKey, apiKey }: Keys): string {
  return body
    .replaceAll(secretKey, '[your secret]')
    .replaceAll(apiKey, '[your API key]')
    .replaceAll(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, '[your access token]')
}
