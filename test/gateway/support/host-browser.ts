import type { Test } from 'tap'
import type { TestGateway } from '../../setup/gateway.ts'
import { type RawResponse, rawRequest } from '../../setup/raw-client.ts'
import { csrfIn, pageVisit, password } from './cookie-jar.ts'

type Fields = Readonly<Record<string, string>>

/** A browser that visits pages of several hosts of a gateway, and keeps the cookies of each. */
export interface HostBrowser {
  /** By name. */
  jarOf(host: string): Map<string, string>
  /** @param site where the link was. @param form is posted */
  visit(url: string, site?: string, form?: Fields): Promise<RawResponse>
}

/** @param gatewayUrl where the names of all hosts lead to */
export function openHostBrowser(t: Test, gatewayUrl: string): HostBrowser {
  const jars = new Map<string, Map<string, string>>()

  function jarOf(host: string): Map<string, string> {
    const jar = jars.get(host) ?? new Map<string, string>()
    jars.set(host, jar)
    return jar
  }

  async function visit(url: string, site = 'cross-site', form?: Fields): Promise<RawResponse> {
    const { host, pathname, search } = new URL(url)
    const jar = jarOf(host)
    const cookies = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const body = form && new URLSearchParams(form).toString()
    const response = await rawRequest(
      t,
      gatewayUrl,
      [
        `${form ? 'POST' : 'GET'} ${pathname}${search} HTTP/1.1`,
        `Host: ${host}`,
        ...(cookies === '' ? [] : [`Cookie: ${cookies}`]),
        ...pageVisit(site),
        ...formLines(body),
      ],
      body ?? '',
    )
    for (const set of response.headers['set-cookie']?.split('\n') ?? []) keep(jar, set)
    return response
  }

  return { jarOf, visit }
}

function formLines(body: string | undefined): readonly string[] {
  if (body === undefined) return []
  return ['Content-Type: application/x-www-form-urlencoded', `Content-Length: ${body.length}`]
}

function keep(jar: Map<string, string>, set: string): void {
  const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
  if (/max-age=0/i.test(set)) jar.delete(name)
  else jar.set(name, value)
}

/** Where a page goes on to by itself. */
export function continuedTo({ body }: RawResponse): string {
  return /content="0;url=([^"]+)"/.exec(body)?.[1]?.replaceAll('&amp;', '&') ?? ''
}

/** Gives an account a password, by its set-up link, on the host of the portal. */
export async function setPassword(
  t: Test,
  gateway: Pick<TestGateway, 'url' | 'operate'>,
  accountId: string,
): Promise<void> {
  const { url } = await gateway.operate(({ setupLinks }) => setupLinks.create(accountId))
  const browser = openHostBrowser(t, gateway.url)
  const [page = '', token = ''] = url.split('#')
  const csrf = csrfIn(await browser.visit(page, 'same-origin'))
  const set = await browser.visit(page, 'same-origin', { csrf, token, password, again: password })
  if (set.status !== 303) throw new Error(`no password was set: ${set.status} ${set.body}`)
}
