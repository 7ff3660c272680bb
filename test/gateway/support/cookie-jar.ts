import type { Test } from 'tap'
import type { TestGateway } from '../../setup/gateway.ts'
import type { RawResponse } from '../../setup/raw-client.ts'
import { ask } from './ask.ts'

export const password = 'correct horse battery staple'

/** What a browser keeps of the cookies that it gets, paths aside; and asks with them. */
export interface CookieJar {
  /** By name. */
  readonly cookies: Map<string, string>
  /** @param headers default: as a page of the gateway would ask */
  ask(line: string, headers?: readonly string[], body?: string): Promise<RawResponse>
}

export function createCookieJar(t: Test, url: string): CookieJar {
  const cookies = new Map<string, string>()
  return {
    cookies,
    ask: async (line, headers = sameOrigin, body) => {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const sent = [...(cookie === '' ? [] : [`Cookie: ${cookie}`]), ...headers]
      const response = await ask(t, url, line, sent, body)
      for (const set of response.headers['set-cookie']?.split('\n') ?? []) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
        if (/max-age=0/i.test(set)) cookies.delete(name)
        else cookies.set(name, value)
      }
      return response
    },
  }
}

/** A fetch of a page of the gateway itself. */
export const sameOrigin = ['Sec-Fetch-Site: same-origin', 'Sec-Fetch-Mode: cors', 'Sec-Fetch-Dest: empty']

/** Somebody opens a page. @param site where the link was; `none` = typed */
export const pageVisit = (site = 'none') => [
  `Sec-Fetch-Site: ${site}`,
  'Sec-Fetch-Mode: navigate',
  'Sec-Fetch-Dest: document',
  'Accept: text/html,application/xhtml+xml',
]

/** Gives an account a password, by its set-up link. */
export async function givePassword(t: Test, gateway: TestGateway, accountId: string): Promise<void> {
  const { url: link } = await gateway.operate(({ setupLinks }) => setupLinks.create(accountId))
  const jar = createCookieJar(t, gateway.url)
  const csrf = csrfIn(await jar.ask('GET /portal/setup', pageVisit('same-origin')))
  const fields = { csrf, token: link.slice(link.indexOf('#') + 1), password, again: password }
  const set = await submit(jar, '/portal/setup', fields)
  if (set.status !== 303) throw new Error(`no password was set: ${set.status} ${set.body}`)
}

/** Signs in on the page of the form that is at a path. @returns the answer to the form */
export async function signInAt(jar: CookieJar, path: string, email: string): Promise<RawResponse> {
  const page = await jar.ask(`GET ${path}`, pageVisit('same-origin'))
  const next = /name="next" value="([^"]*)"/.exec(page.body)?.[1]?.replaceAll('&amp;', '&') ?? ''
  return submit(jar, '/portal/sign-in', { csrf: csrfIn(page), next, email, password })
}

export function submit(
  jar: CookieJar,
  path: string,
  fields: Readonly<Record<string, string>>,
): Promise<RawResponse> {
  const headers = ['Content-Type: application/x-www-form-urlencoded', ...pageVisit('same-origin')]
  return jar.ask(`POST ${path}`, headers, new URLSearchParams(fields).toString())
}

export function csrfIn({ body }: RawResponse): string {
  return /name="csrf" value="([^"]*)"/.exec(body)?.[1] ?? ''
}
