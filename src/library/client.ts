import { createTokens } from './client-tokens.ts'
import { toCredential } from './credential.ts'
import { toHttpUrl } from './http-url.ts'

// Entry point `@gatehouse-proxy/gateway/client`.
export { ClientError } from './client-tokens.ts'

export interface ClientOptions {
  /** Origin of the gateway, such as `https://api.example.com`. Credentials are sent to it only. */
  readonly baseUrl: string | URL
  /**
   * `secretKey` alone: sent with every request. Both keys: exchanged for tokens, which are refreshed. None: a browser,
   * which gets tokens by the HttpOnly cookie of a session. One that is there must be a key: undefined is an error.
   * White space around it is removed.
   */
  readonly secretKey?: string
  readonly apiKey?: string
  /** Default: the global one. */
  readonly fetch?: typeof fetch
  /** Milliseconds since 1970; default: the system's clock. */
  readonly clock?: () => number
}

export interface GatehouseClient {
  /**
   * `fetch` with a credential; paths are relative to the gateway. A request that is refused because its token has
   * expired or was revoked is sent once more with a new token, unless its body is a stream or an async iterable: then
   * only the next request has the new token. The body of a Request counts as a stream beyond 1 MiB. Other bodies are
   * read again, so they must not change before the response.
   * @throws ClientError if no token can be obtained; TypeError for a URL of another origin
   */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>
  /** The access token, for callers that do not use fetch. @throws ClientError; TypeError with a secret key alone */
  accessToken(): Promise<string>
  /** Ends the session and its tokens; does nothing with a secret key alone. @throws ClientError */
  revoke(): Promise<void>
}

/** The codes of a 401 after which a new token helps. */
const staleCodes: ReadonlySet<unknown> = new Set(['token-expired', 'token-revoked', 'session-revoked'])

/** @throws TypeError for options that cannot be meant, as those of an unset variable */
export function createClient(options: ClientOptions): GatehouseClient {
  const { clock = Date.now } = options
  // Called as a plain function, as browsers refuse to call it as a method of another object.
  const send: typeof fetch = options.fetch ?? ((input, init) => fetch(input, init))
  const baseUrl = toHttpUrl(options.baseUrl, 'baseUrl')
  const secretKey = keyOf(options, 'secretKey')
  const apiKey = keyOf(options, 'apiKey')
  if (secretKey === undefined && apiKey !== undefined) throw new TypeError('apiKey needs secretKey')
  if (secretKey !== undefined && apiKey === undefined) return createKeyClient(baseUrl, secretKey, send)
  const tokens = createTokens({
    baseUrl,
    source:
      secretKey !== undefined && apiKey !== undefined
        ? { kind: 'keys', secretKey, apiKey }
        : { kind: 'cookie' },
    fetch: send,
    clock,
  })

  return {
    accessToken: tokens.current,
    revoke: tokens.revoke,
    fetch: async (input, init) => {
      const make = () => requestFor(baseUrl, input, init)
      const request = make()
      const secondAttempt = isReadOnce(init?.body)
        ? () => undefined
        : isSpent(input, init)
          ? keepBody(request)
          : make
      const token = await unlessAborted(request, tokens.current())
      const response = await send(setHeader(request, 'Authorization', `Bearer ${token}`))
      if (!(await isStale(response))) return response
      const spare = secondAttempt()
      if (spare === undefined) {
        // For the next request, which waits for it; this one already has its response.
        void tokens.replace(token).catch(() => {})
        return response
      }
      const other = await unlessAborted(request, tokens.replace(token))
      await response.body?.cancel()
      return send(setHeader(spare, 'Authorization', `Bearer ${other}`))
    },
  }
}

/** One that is undefined is not left out: the client would authenticate in another way than its caller means. */
function keyOf(options: ClientOptions, name: 'secretKey' | 'apiKey'): string | undefined {
  return name in options ? toCredential(options[name], name) : undefined
}

function createKeyClient(baseUrl: URL, secretKey: string, send: typeof fetch): GatehouseClient {
  return {
    accessToken: async () => {
      throw new TypeError('a secret key alone has no access token: pass apiKey too')
    },
    revoke: async () => {},
    fetch: async (input, init) => {
      const request = requestFor(baseUrl, input, init)
      // On a redirect to another origin, fetch would remove Authorization, but keep SecretKey.
      return send(setHeader(new Request(request, { redirect: 'error' }), 'SecretKey', secretKey))
    },
  }
}

/** @throws TypeError for another origin: it must not get the credential */
function requestFor(baseUrl: URL, input: string | URL | Request, init: RequestInit | undefined): Request {
  const request = new Request(
    input instanceof Request ? input : new URL(input, baseUrl),
    // Node requires it for such bodies.
    isReadOnce(init?.body) ? { ...init, duplex: 'half' } : init,
  )
  if (new URL(request.url).origin !== baseUrl.origin)
    throw new TypeError(`${new URL(request.url).origin} is not the gateway, ${baseUrl.origin}`)
  return request
}

/** Whether a body cannot be sent again: a stream or an async iterable. */
function isReadOnce(body: unknown): boolean {
  return (
    body instanceof ReadableStream ||
    (typeof body === 'object' && body !== null && Symbol.asyncIterator in body)
  )
}

/** Other calls may wait for the same token, so it is still got. @throws the reason for which the request was aborted */
function unlessAborted({ signal }: Request, token: Promise<string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort)
    token.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/** Changes the request. */
function setHeader(request: Request, name: string, value: string): Request {
  request.headers.set(name, value)
  return request
}

async function isStale(response: Response): Promise<boolean> {
  if (response.status !== 401) return false
  const problem: unknown = await response
    .clone()
    .json()
    .catch(() => undefined)
  return typeof problem === 'object' && problem !== null && staleCodes.has(Reflect.get(problem, 'code'))
}

/** Whether the body was in a Request, which has given it to the one that was made of it. */
function isSpent(input: string | URL | Request, init: RequestInit | undefined): boolean {
  return input instanceof Request && input.bodyUsed && (init?.body ?? null) === null
}

/** How much of a body that may be a stream is kept. */
const keptBytesMax = 1_048_576

/**
 * Keeps the body of a request that is about to be sent, up to 1 MiB, as nothing shows whether it is a stream, which
 * may be endless.
 * @returns a function that makes the request again; undefined = its body cannot be sent again
 */
function keepBody(request: Request): () => Request | undefined {
  const copy = request.clone()
  let body: Blob | undefined
  // A body that fails makes the first attempt fail, too.
  collect(copy, keptBytesMax).then(
    (whole) => {
      body = whole
    },
    () => {},
  )
  return () => body && new Request(copy, { body })
}

/** The whole body of a request. @returns undefined if it is longer than `bytesMax`, or cannot be read, as in Firefox */
async function collect({ body }: Request, bytesMax: number): Promise<Blob | undefined> {
  if (!body) return undefined
  const chunks: Uint8Array<ArrayBuffer>[] = []
  const reader = body.getReader()
  let bytes = 0
  for (;;) {
    const { value } = await reader.read()
    if (value === undefined) return new Blob(chunks)
    chunks.push(value)
    bytes += value.length
    if (bytes <= bytesMax) continue
    // Not awaited, as it resolves only when the other branch, which is being sent, has ended too.
    reader.cancel().catch(() => {})
    return undefined
  }
}
