import { trustSystemAuthorities } from '#platform/certificate-authorities.ts'
import { signalAtDeadline } from '#platform/deadline.ts'
import { parseJson } from '#platform/json.ts'

/** The maximum length of a response: the largest key sets have about 20 KiB. */
export const responseBytesMax = 256 * 1_024
/** For the whole exchange. */
export const fetchTimeoutMs = 5_000

/** A response that was read completely. */
interface JsonResponse {
  readonly status: number
  /** undefined = the body is not JSON. */
  readonly json: unknown
}

interface FetchJsonOptions extends Partial<Omit<FetchOptions, 'headers'>> {
  readonly headers?: Readonly<Record<string, string>>
  /** Default: `fetchTimeoutMs`. */
  readonly timeoutMs?: number
  /** Default: `responseBytesMax`. */
  readonly bytesMax?: number
}

/**
 * Gets a small JSON document. Redirects are not followed, as only the URL in the config was checked.
 * @throws Error, in words for the log, if there is no response in time or it is too long
 */
export async function fetchJson(url: string, options: FetchJsonOptions): Promise<JsonResponse> {
  const {
    method = 'GET',
    headers,
    body = null,
    signal: aborted,
    timeoutMs = fetchTimeoutMs,
    bytesMax,
  } = options
  if (url.startsWith('https:')) trustSystemAuthorities()
  const { signal, clear } = signalAtDeadline(timeoutMs)
  try {
    const response = await fetch(url, {
      method,
      body,
      headers: { Accept: 'application/json', ...headers },
      redirect: 'manual',
      signal: aborted ? AbortSignal.any([aborted, signal]) : signal,
    })
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel()
      throw new Error('redirects are not followed: configure the URL that it leads to')
    }
    return { status: response.status, json: parseJson(await readText(response, bytesMax)) }
  } catch (error) {
    throw new Error(`${url}: ${reasonOf(error, timeoutMs)}`, { cause: error })
  } finally {
    clear()
  }
}

/** @throws Error where the body is longer than `bytesMax` */
async function readText({ body }: Response, bytesMax = responseBytesMax): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body ?? []) {
    length += chunk.length
    // Leaving the loop cancels the response.
    if (length > bytesMax) throw new Error(`the response is longer than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** The reason of a failed `fetch`, which is only in its cause. */
function reasonOf(error: unknown, timeoutMs = fetchTimeoutMs): string {
  if (!(error instanceof Error)) return 'unreachable'
  if (error.name === 'TimeoutError') return `no complete response within ${timeoutMs / 1_000} s`
  return error.cause instanceof Error ? error.cause.message || error.message : error.message
}

/** The provider could not be asked, or not now: this says nothing about the person. */
export class ProviderUnreachable extends Error {
  override readonly name = 'ProviderUnreachable'
}

interface FetchOptions {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: RequestInit['body']
  readonly signal?: AbortSignal | undefined
}

/** Statuses whose responses have no body (Fetch, 2.2.3). */
const bodiless: ReadonlySet<number> = new Set([101, 103, 204, 205, 304])

/**
 * Sends a request to the provider. The response is read completely, up to `responseBytesMax`; redirects are not
 * followed.
 * @throws ProviderUnreachable if there is no response in time, it is too long, or the provider fails (5xx)
 */
export async function providerFetch(url: string, options: FetchOptions): Promise<Response> {
  if (url.startsWith('https:')) trustSystemAuthorities()
  try {
    const { method, headers, body, signal } = options
    const response = await fetch(url, {
      method,
      headers,
      redirect: 'manual',
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    })
    const text = await readText(response)
    if (response.status >= 500) throw new Error(`status ${response.status}`)
    return new Response(bodiless.has(response.status) ? null : text, response)
  } catch (error) {
    // Without the query, which may contain secrets.
    throw new ProviderUnreachable(`${url.split('?', 1)[0]}: ${reasonOf(error)}`, { cause: error })
  }
}
