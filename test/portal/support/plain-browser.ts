import type { OpenIdProvider } from '../../setup/openid-provider.ts'

/** A browser of a test: cookies by host and path, and nothing is followed unless it says so. */
export interface PlainBrowser {
  readonly cookies: Map<string, StoredCookie>
  get(url: string): Promise<Page>
  post(url: string, fields: Readonly<Record<string, string>>, accept?: string): Promise<Page>
  /** Follows redirects, and signs in at the provider where it asks; stops where the browser would come back. */
  toCallback(url: string, provider: OpenIdProvider, login: string): Promise<string>
}

export interface StoredCookie {
  readonly host: string
  readonly path: string
  readonly name: string
  readonly value: string
}

export interface Page {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Where it leads by itself: a redirect or a refresh; undefined = nowhere. */
  readonly next: string | undefined
}

/** @param publicUrl what the gateway calls itself; it is reached at `url` */
export function openPlainBrowser({ url, publicUrl }: { readonly url: string; readonly publicUrl: string }) {
  const cookies: PlainBrowser['cookies'] = new Map()

  function cookiesFor({ host, pathname }: URL): string {
    return [...cookies.values()]
      .filter((cookie) => cookie.host === host && `${pathname}/`.startsWith(cookie.path.replace(/\/?$/, '/')))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ')
  }

  function keep(line: string, { host }: URL): void {
    const [pair = '', ...attributes] = line.split(/; */)
    const [name = '', value = ''] = pair.split(/=(.*)/s)
    const path = attributes.find((each) => /^path=/i.test(each))?.slice(5) ?? '/'
    const key = `${host} ${path} ${name}`
    if (attributes.some((each) => /^max-age=0$/i.test(each)) || value === '') cookies.delete(key)
    else cookies.set(key, { host, path, name, value })
  }

  async function ask(address: string, init: RequestInit = {}): Promise<Page> {
    const at = new URL(address.replace(publicUrl, url))
    const headers = { Accept: 'text/html', Cookie: cookiesFor(at), ...(init.headers as object) }
    const response = await fetch(at, { ...init, headers, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) keep(line, at)
    const text = await response.text()
    const refresh = /http-equiv="refresh" content="0;url=([^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&')
    const target = response.headers.get('location') ?? refresh
    const next = target === undefined ? undefined : new URL(target, at).href.replace(publicUrl, url)
    return { status: response.status, headers: response.headers, text, next }
  }

  const post: PlainBrowser['post'] = (address, fields, accept = 'text/html') =>
    ask(address, { method: 'POST', body: new URLSearchParams(fields), headers: { Accept: accept } })

  async function toCallback(start: string, provider: OpenIdProvider, login: string): Promise<string> {
    let address = start
    for (let step = 0; step < 12; step++) {
      if (address.includes('/oidc/callback')) return address
      let page = await ask(address)
      if (address.startsWith(`${provider.url}/interaction/`)) page = await post(address, { login })
      if (page.next === undefined) throw new Error(`${address} leads nowhere: ${page.status} ${page.text}`)
      address = page.next
    }
    throw new Error(`no end after ${address}`)
  }

  return { cookies, get: (address: string) => ask(address), post, toCallback } satisfies PlainBrowser
}
