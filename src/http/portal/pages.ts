import type { Answer } from './answer.ts'
import type { PortalOptions } from './options.ts'
import { audienceOf, type OpenPath, type PortalPath } from './plans.ts'
import type { SignedInVisit, Visit } from './visit.ts'

/** What stands at one path of the portal, which says for whom; a visit of somebody signed in knows who it is. */
export type PortalPage = OpenPage | SignedInPage

interface PageOptions {
  /** Largest form, in bytes. Default: 64 KiB. */
  readonly bytesMax?: number
}

interface OpenPage extends PageOptions {
  /** Below the portal. */
  readonly path: OpenPath
  readonly get?: (visit: Visit) => Promise<Answer>
  readonly post?: (visit: Visit) => Promise<Answer>
}

interface SignedInPage extends PageOptions {
  /** Below the portal. */
  readonly path: Exclude<PortalPath, OpenPath>
  readonly get?: (visit: SignedInVisit) => Promise<Answer>
  readonly post?: (visit: SignedInVisit) => Promise<Answer>
}

/** Whether anyone may have a page. */
export function isOpen(page: PortalPage): page is OpenPage {
  return audienceOf(page.path) === 'anyone'
}

/** Makes the pages of one part of the portal. */
export type Pages = (options: PortalOptions) => readonly PortalPage[]

/** A page, and the path of the page that its form stands on; its own where it can be looked at. */
export interface PageAtHome {
  readonly page: PortalPage
  readonly home: string
}

/** The nearest page that can be looked at, this one or one above; there is one at the start of the portal. */
export function homeOf(path: string, pages: readonly PortalPage[]): string {
  const isHome = path === '' || pages.some((page) => page.path === path && page.get)
  return isHome ? path : homeOf(path.slice(0, path.lastIndexOf('/')), pages)
}

/** Where somebody goes on who has sent a form, below the portal: the page that it stands on, of the same account. */
export function formHome(request: Visit['request'], { home }: PageAtHome): string {
  return home.replace(':id', encodeURIComponent(paramOf({ request }, 'id')))
}

/** The methods that a page takes. */
export function methodsOf({ get, post }: PortalPage): readonly string[] {
  return [...(get ? ['GET', 'HEAD'] : []), ...(post ? ['POST'] : [])]
}

/** A member of the query; of one that comes twice the first counts. */
export function queryOf({ request }: Visit): (name: string) => string {
  const query = new URLSearchParams(request.url.split('?')[1] ?? '')
  return (name) => query.get(name) ?? ''
}

/** A part of the path, such as an ID. */
export function paramOf({ request }: Pick<Visit, 'request'>, name: string): string {
  const { params } = request
  const value = typeof params === 'object' && params !== null ? Reflect.get(params, name) : undefined
  return typeof value === 'string' ? value : ''
}
