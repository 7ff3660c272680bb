import type { RouteOptions } from '#gateway/routes/compile.ts'
import { isWildcard } from '#gateway/routes/hosts.ts'
import { accessTokenPath, type PublicPath } from '#gateway/routes/own-operations.ts'
import { createOwnPaths } from '#gateway/routes/own-paths.ts'
import { parseRequestTarget } from '#gateway/routes/request-target.ts'
import { keyField } from '#identity/carriers.ts'
import { isRecord, parseJson } from '#platform/json.ts'
import { hideKnownSecrets, type KnownSecret, longestSpelling } from '#platform/secrets/hide-secrets.ts'
import type { KeyKind } from '#platform/secrets/keys.ts'
import type { Account } from '#store/accounts.ts'
import { defaultKeyOf } from '#store/secret-keys.ts'
import type { PortalOptions, SignedInContext } from '../page-context.ts'
import type { Texts } from '../texts/texts.ts'
import {
  requestText,
  type TryItOutcome,
  type TryItRequest,
  type TryItRoute,
  triedMethods,
} from '../views/integration/try-it-card.ts'
import { callGateway, callTimeoutMs, type GatewayRequest, type GatewayResponse } from './call-gateway.ts'

interface CallableRoute extends TryItRoute {
  readonly auth: RouteOptions['auth']
}

const shownBodyLengthMax = 2_000

/** The routes that would admit the account with a key without scopes; public ones last. */
export function admittingRoutes(
  routes: readonly RouteOptions[],
  { role, isVerified }: Account,
): readonly RouteOptions[] {
  return routes
    .filter(({ auth, roles, verifiedOnly }) => {
      if (auth === 'deny' || auth === 'none') return auth === 'none'
      return (roles?.includes(role) ?? true) && (isVerified || !verifiedOnly)
    })
    .toSorted((one, other) => Number(one.auth === 'none') - Number(other.auth === 'none'))
}

/** The admitting routes that can be tried, each with the method that is used unless another is chosen. */
export function callableRoutes(routes: readonly RouteOptions[], account: Account): readonly CallableRoute[] {
  return admittingRoutes(routes, account)
    .filter(({ host }) => !isWildcard(host))
    .map(({ name, path, host, auth, methods = ['GET'] }) => {
      const method = methods.includes('GET') ? 'GET' : (methods[0] ?? 'GET')
      return { name, path, host, auth, method }
    })
    .filter(({ method }) => triedMethods.includes(method))
}

/** The URL of the first of these routes, for code examples. */
export function exampleTarget(
  publicOrigin: string,
  [route]: readonly CallableRoute[],
): { readonly baseUrl: string; readonly path: string } {
  const { protocol, port } = new URL(publicOrigin)
  const host = route?.host
  const baseUrl = host === undefined ? publicOrigin : `${protocol}//${host}${port && `:${port}`}`
  return { baseUrl, path: route?.path ?? '/' }
}

/** Creates the function that calls this gateway through its own listener, as any client would. */
export function createTryIt({ gatewayUrl, identityHeaders, carriers, path: portalPath }: PortalOptions) {
  const ownPaths = createOwnPaths({ enabled: true, path: portalPath })
  const names = Object.values(identityHeaders).filter((name) => name !== undefined)

  function post(path: PublicPath, body: unknown): Promise<GatewayResponse> {
    return callGateway(gatewayUrl(), {
      method: 'POST',
      path,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
  }

  /** Calls with an access token, whose session ends with the call. @param onToken called before the request is sent */
  async function callWithToken(
    request: RouteRequest,
    keys: Keys,
    onToken: (token: string) => void,
  ): Promise<GatewayResponse> {
    const issued = await post(accessTokenPath, { SecretKey: keys.secretKey, APIKey: keys.apiKey })
    if (issued.status !== 200) return issued
    // The cast is sound: the endpoint guarantees the members.
    const { JwtToken, RefreshToken } = JSON.parse(issued.body) as Record<'JwtToken' | 'RefreshToken', string>
    onToken(JwtToken)
    try {
      return await send(request, { Authorization: `Bearer ${JwtToken}` })
    } finally {
      // If the session cannot be ended now, the response still counts, and the session stays in the list.
      await post('/api/v1/accounts/revoke-token', { token: RefreshToken }).catch(() => undefined)
    }
  }

  function send(request: RouteRequest, headers: Readonly<Record<string, string>>): Promise<GatewayResponse> {
    const type = request.body === '' ? undefined : { 'Content-Type': 'application/json' }
    return callGateway(gatewayUrl(), { ...request, headers: { Accept: '*/*', ...type, ...headers } })
  }

  /** undefined if the path is not one of the route. If another route is more specific, the gateway uses that one. */
  function requestTo(route: CallableRoute, { method, rest, body }: TryItRequest): RouteRequest | undefined {
    const path = rest === '' ? route.path : route.path.replace(/\/$/, '') + rest
    const target = /^[/?]|^$/.test(rest) ? parseRequestTarget(path) : undefined
    // The gateway's own paths, such as the portal and the admin API, need more than a form that asks for no password.
    if (!target || ownPaths.has(target.path)) return undefined
    const chosen = triedMethods.includes(method) ? method : route.method
    return { method: chosen, path, host: route.host, body: chosen === 'GET' ? '' : body }
  }

  return async function tryRoute(
    route: CallableRoute,
    asked: TryItRequest,
    context: SignedInContext,
  ): Promise<TryItOutcome> {
    const texts = context.texts.tryIt
    const request = requestTo(route, asked)
    if (!request) return { kind: 'failed', reason: texts.badPath(route.path) }
    const keys = readKeys(context)
    if (!keys) {
      const hasKey = defaultKeyOf(context.viewer.account) !== undefined
      return { kind: 'failed', reason: hasKey ? texts.keysNotStored : context.texts.keys.secretKey.none }
    }
    const { placeholders } = texts
    try {
      const isToken = route.auth === 'bearer'
      // The response may repeat the request, and keys must not be shown unless they are revealed.
      const secrets: KnownSecret[] = [
        { text: keys.secretKey, placeholder: placeholders.secretKey },
        { text: keys.apiKey, placeholder: placeholders.apiKey },
      ]
      const field = keyField(carriers, keys.secretKey)
      const response = isToken
        ? await callWithToken(request, keys, (text) =>
            secrets.push({ text, placeholder: placeholders.accessToken }),
          )
        : await send(request, route.auth === 'none' ? {} : Object.fromEntries([field]))
      // The value that was sent. With Basic it holds the key in base64, which the response may repeat as well.
      const sent = field[1].slice(field[1].indexOf(' ') + 1)
      if (sent !== keys.secretKey) secrets.push({ text: sent, placeholder: placeholders.secretKey })
      const hide = (text: string) => hideTokens(hideKnownSecrets(text, secrets), placeholders.accessToken)
      const value = parseJson(response.body)
      // Without the end of a truncated body: a secret that is cut short there could not be recognised.
      const body = response.isTruncated
        ? response.body.slice(0, -longestSpelling(secrets))
        : formatBody(response.body, value)
      const shownBody = hide(body)
      return {
        kind: 'answered',
        response: {
          route: requestText(request),
          status: response.status,
          contentType: hide(response.contentType),
          durationMs: Math.round(response.durationMs),
          credential: credentialFor(route),
          sendsIdentity: route.auth !== 'none',
          identity: echoedIdentity(value, names)?.map(([name, value]) => [name, hide(value)] as const),
          body: shownBody.slice(0, shownBodyLengthMax),
          isTruncated: response.isTruncated || shownBody.length > shownBodyLengthMax,
        },
      }
    } catch (error) {
      return { kind: 'failed', reason: failureReason(error, texts) }
    }
  }
}

function credentialFor({ auth }: CallableRoute): 'none' | 'accessToken' | 'secretKey' {
  if (auth === 'none') return 'none'
  return auth === 'bearer' ? 'accessToken' : 'secretKey'
}

/** A request as it is sent, without its headers. */
type RouteRequest = Omit<Required<GatewayRequest>, 'headers'>

function failureReason(error: unknown, { late, unreachable }: Texts['tryIt']): string {
  const isLate = error instanceof DOMException && error.name === 'TimeoutError'
  return isLate ? late(callTimeoutMs / 1_000) : unreachable
}

type Keys = Readonly<Record<KeyKind, string>>

function readKeys({ actions, viewer }: SignedInContext): Keys | undefined {
  const secretKey = actions.defaultKeys.unseal(viewer.account, 'secretKey')
  const apiKey = actions.defaultKeys.unseal(viewer.account, 'apiKey')
  return secretKey !== undefined && apiKey !== undefined ? { secretKey, apiKey } : undefined
}

/** The identity headers that a backend echoes in its response; undefined = it echoes no headers at all. */
function echoedIdentity(
  body: unknown,
  names: readonly string[],
): readonly (readonly [string, string])[] | undefined {
  const headers = isRecord(body) ? body.headers : undefined
  if (typeof headers !== 'object' || headers === null) return undefined
  const echoed = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]))
  return names.flatMap((name) => {
    const value = echoed.get(name.toLowerCase())
    return value === undefined ? [] : [[name, value] as const]
  })
}

/** Other JWTs are credentials too, such as an assertion that the backend shows. */
function hideTokens(text: string, placeholder: string): string {
  return text.replaceAll(/[\w.-]+/g, (word) => {
    const start = word.indexOf('eyJ')
    const isToken = start !== -1 && /^[\w-]+\.[\w-]+\.[\w-]+/.test(word.slice(start))
    return isToken ? `${word.slice(0, start)}${placeholder}` : word
  })
}

/** Deeper values are not formatted: nested 30,000 times, they would be indented by 2 GB. */
const indentedDepthMax = 100

/** @param value of the body, if it is JSON */
function formatBody(body: string, value: unknown): string {
  return typeof value === 'object' && value !== null && !isDeeper(value, indentedDepthMax)
    ? JSON.stringify(value, undefined, 2)
    : body
}

function isDeeper(value: unknown, depthMax: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return depthMax === 0 || Object.values(value).some((inner) => isDeeper(inner, depthMax - 1))
}
