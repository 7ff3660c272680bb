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

interface FetchJsonOptions {
  /** Default: GET. */
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: RequestInit['body']
  readonly signal?: AbortSignal | undefined
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
export async function readText({ body }: Response, bytesMax = responseBytesMax): Promise<string> {
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
export function reasonOf(error: unknown, timeoutMs = fetchTimeoutMs): string {
  if (!(error instanceof Error)) return 'unreachable'
  if (error.name === 'TimeoutError') return `no complete response within ${timeoutMs / 1_000} s`
  return error.cause instanceof Error ? error.cause.message || error.message : error.message
}
