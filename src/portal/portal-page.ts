import { audienceOf, type PortalPath, type PublicPath } from './page-access.ts'
import type { PageContext, SignedInContext } from './page-context.ts'
import type { PortalOptions } from './portal-options.ts'
import type { PortalResponse } from './portal-response.ts'

/** The handlers of one portal path. The path decides who may access it; signed-in pages get the viewer. */
export type PortalPage = PublicPage | SignedInPage

interface PageOptions {
  /** Largest form, in bytes. Default: 64 KiB. */
  readonly bytesMax?: number
}

interface PublicPage extends PageOptions {
  /** Below the portal. */
  readonly path: PublicPath
  readonly get?: (context: PageContext) => Promise<PortalResponse>
  readonly post?: (context: PageContext) => Promise<PortalResponse>
}

interface SignedInPage extends PageOptions {
  /** Below the portal. */
  readonly path: Exclude<PortalPath, PublicPath>
  readonly get?: (context: SignedInContext) => Promise<PortalResponse>
  readonly post?: (context: SignedInContext) => Promise<PortalResponse>
}

/** Whether a page is public. */
export function isPublic(page: PortalPage): page is PublicPage {
  return audienceOf(page.path) === 'anyone'
}

/** Creates the pages of one part of the portal. */
export type CreatePages = (options: PortalOptions) => readonly PortalPage[]

/** A page, and the path of the page with its form; its own path if it has a GET. */
export interface RegisteredPage {
  readonly page: PortalPage
  readonly formPagePath: string
}

/** The path of the nearest page with a GET, this one or one above; the start of the portal has one. */
export function formPagePathOf(path: string, pages: readonly PortalPage[]): string {
  const isHome = path === '' || pages.some((page) => page.path === path && page.get)
  return isHome ? path : formPagePathOf(path.slice(0, path.lastIndexOf('/')), pages)
}

/** Where to redirect after a form, below the portal: the page with the form, for the same account. */
export function resolveFormPagePath(
  request: PageContext['request'],
  { formPagePath }: RegisteredPage,
): string {
  return formPagePath.replace(':id', encodeURIComponent(paramOf({ request }, 'id')))
}

/** The methods that a page allows. */
export function methodsOf({ get, post }: PortalPage): readonly string[] {
  return [...(get ? ['GET', 'HEAD'] : []), ...(post ? ['POST'] : [])]
}

/** Reads a query parameter; of a repeated one the first value counts. */
export function queryOf({ request }: PageContext): (name: string) => string {
  const query = new URLSearchParams(request.url.split('?')[1] ?? '')
  return (name) => query.get(name) ?? ''
}

/** A parameter of the path, such as an ID. */
export function paramOf({ request }: Pick<PageContext, 'request'>, name: string): string {
  const { params } = request
  const value = typeof params === 'object' && params !== null ? Reflect.get(params, name) : undefined
  return typeof value === 'string' ? value : ''
}
