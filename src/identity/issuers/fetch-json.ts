import { trustSystemAuthorities } from '#platform/certificate-authorities.ts'
import { signalAtDeadline } from '#platform/deadline.ts'
import { parseJson } from '#platform/json.ts'

/** The body of a response may not be longer: the largest key sets have some 20 KiB. */
export const responseBytesMax = 256 * 1_024
/** For the whole exchange. */
export const fetchTimeoutMs = 5_000

/** A response that was received whole. */
export interface JsonResponse {
  readonly status: number
  /** undefined = the body is no JSON. */
  readonly json: unknown
}

/**
 * Gets a small JSON document. No redirect is followed: the URL in the config is the one that was checked.
 * @throws Error, in words for the log, where there is no response in time, or it is too long
 */
export async function fetchJson(url: string, aborted: AbortSignal): Promise<JsonResponse> {
  if (url.startsWith('https:')) trustSystemAuthorities()
  const { signal, clear } = signalAtDeadline(fetchTimeoutMs)
  try {
    const response = await fetch(url, {
      headers: { Accept: 'application/json' },
      redirect: 'manual',
      signal: AbortSignal.any([aborted, signal]),
    })
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel()
      throw new Error('redirects are not followed: configure the URL that it leads to')
    }
    return { status: response.status, json: parseJson(await readText(response)) }
  } catch (error) {
    throw new Error(`${url}: ${reasonOf(error)}`, { cause: error })
  } finally {
    clear()
  }
}

/** @throws Error where the body is longer than `responseBytesMax` */
export async function readText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body ?? []) {
    length += chunk.length
    // Leaving the loop cancels the response.
    if (length > responseBytesMax) throw new Error(`the response is longer than ${responseBytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** `fetch` only says that it failed: its cause has the reason. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unreachable'
  if (error.name === 'TimeoutError') return `no complete response within ${fetchTimeoutMs / 1_000} s`
  return error.cause instanceof Error ? error.cause.message || error.message : error.message
}
