import { trustSystemAuthorities } from '#platform/certificate-authorities.ts'
import { readText, reasonOf } from '../issuers/fetch-json.ts'

/** The provider could not be asked, which says nothing about the person. */
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
