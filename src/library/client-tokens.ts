/** How tokens are obtained. */
type TokenSource =
  /** Programs: by both keys of an account. */
  | { readonly kind: 'keys'; readonly secretKey: string; readonly apiKey: string }
  /** Browsers: by the HttpOnly cookie, which scripts cannot read. */
  | { readonly kind: 'cookie' }

interface TokensOptions {
  readonly baseUrl: URL
  readonly source: TokenSource
  readonly fetch: typeof fetch
  readonly clock: () => number
}

interface Tokens {
  /** The current access token; refreshes it shortly before it expires. @throws ClientError if none holds any more */
  current(): Promise<string>
  /** A token other than this refused one. Parallel calls share one refresh. @throws ClientError */
  replace(refused: string): Promise<string>
  /** Ends the session. */
  revoke(): Promise<void>
}

/** How long before its expiry a token is replaced, as the request takes time too. At most a tenth of its lifetime. */
const marginMs = 10_000

interface Held {
  readonly access: string
  /** Only with keys, as browsers keep it in the cookie. */
  readonly refresh: string | undefined
  /** When it is replaced, in milliseconds since 1970. */
  readonly renewAt: number
  readonly expiresAt: number
}

export function createTokens({ baseUrl, source, fetch, clock }: TokensOptions): Tokens {
  let held: Held | undefined
  let renewal: Promise<Held> | undefined

  async function post(
    name: string,
    body: Readonly<Record<string, string>>,
  ): Promise<Record<string, unknown>> {
    const response = await fetch(new URL(`/api/v1/accounts/${name}`, baseUrl), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
      // A redirect would send keys and tokens elsewhere.
      redirect: 'error',
      ...(source.kind === 'cookie' && { credentials: 'include' as const }),
    }).catch((cause: unknown) => {
      throw new ClientError('gateway-unreachable', 0, 'The gateway could not be reached.', { cause })
    })
    const answer: unknown = await response.json().catch(() => undefined)
    // The casts are sound: both are checked to be objects, and each member where it is used.
    const members = (typeof answer === 'object' && answer !== null ? answer : {}) as Record<string, unknown>
    if (response.ok) return members
    const { code = 'unexpected-response', detail = `the gateway answered ${response.status}` } = members
    throw new ClientError(String(code), response.status, String(detail))
  }

  async function start(): Promise<Held> {
    if (source.kind === 'cookie') throw new ClientError('session-over', 401, 'There is no session: sign in.')
    const { JwtToken, RefreshToken } = await post('access-token', {
      SecretKey: source.secretKey,
      APIKey: source.apiKey,
    })
    return hold(JwtToken, RefreshToken)
  }

  /** With keys, an ended session is followed by another; with a cookie the user has to sign in. */
  async function refresh(): Promise<Held> {
    if (source.kind === 'keys' && held?.refresh === undefined) return start()
    try {
      const { jwtToken, refreshToken } = await post(
        'refresh-token',
        held?.refresh === undefined ? {} : { token: held.refresh },
      )
      return hold(jwtToken, refreshToken)
    } catch (error) {
      const isOver =
        error instanceof ClientError && (error.status === 401 || error.code === 'request-invalid')
      if (!isOver) throw error
      held = undefined
      return start()
    }
  }

  function hold(access: unknown, refreshToken: unknown): Held {
    if (typeof access !== 'string' || typeof refreshToken !== 'string')
      throw new ClientError('unexpected-response', 200, 'The gateway sent no tokens.')
    const now = clock()
    const lifetimeMs = lifetimeOf(access)
    const expiresAt = now + lifetimeMs
    const renewAt = expiresAt - Math.min(marginMs, lifetimeMs / 10)
    return { access, refresh: source.kind === 'keys' ? refreshToken : undefined, renewAt, expiresAt }
  }

  function renew(): Promise<Held> {
    renewal ??= refresh()
      .then((renewed) => {
        held = renewed
        return renewed
      })
      .finally(() => {
        renewal = undefined
      })
    return renewal
  }

  async function current(): Promise<Held> {
    // While the token is being replaced, it may be one that was refused.
    if (!renewal && held && clock() < held.renewAt) return held
    return renew().catch((error: unknown) => {
      // A token whose session is over is not held any more.
      if (held && clock() < held.expiresAt) return held
      throw error
    })
  }

  return {
    current: async () => (await current()).access,
    replace: async (refused) => {
      if (held && held.access !== refused) return held.access
      // It does not hold any more, whether or not it can be renewed now.
      if (held) held = { ...held, renewAt: 0, expiresAt: 0 }
      return (await renew()).access
    },
    revoke: async () => {
      const last = (await renewal?.catch(() => undefined)) ?? held
      held = undefined
      if (source.kind === 'cookie') await post('revoke-token', {}).catch(ignoreMissing)
      else if (last?.refresh !== undefined)
        await post('revoke-token', { token: last.refresh }).catch((error: unknown) => {
          // Without its refresh token another call could not end the session.
          held ??= last
          throw error
        })
    },
  }
}

/** Without a cookie there is nothing to end. */
function ignoreMissing(error: unknown): Record<string, unknown> {
  if (error instanceof ClientError && error.code === 'request-invalid') return {}
  throw error
}

/**
 * The lifetime of a token in milliseconds; 0 = unknown. From its own claims, so that the clocks of client and gateway
 * need not agree.
 */
function lifetimeOf(token: string): number {
  try {
    const [, payload = ''] = token.split('.')
    const { iat, exp } = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')))
    return Number.isFinite(exp - iat) ? Math.max(0, exp - iat) * 1_000 : 0
  } catch {
    return 0
  }
}

/** The gateway gave no tokens. */
export class ClientError extends Error {
  override readonly name = 'ClientError'
  /**
   * The code of the gateway, such as `credentials-invalid`; `session-over` = the user has to sign in again;
   * `gateway-unreachable` = there was no response or a redirect, for the reason in `cause`.
   */
  readonly code: string
  /** The status of the response; 0 with `gateway-unreachable`. */
  readonly status: number

  constructor(code: string, status: number, detail: string, options?: ErrorOptions) {
    super(detail, options)
    this.code = code
    this.status = status
  }
}
