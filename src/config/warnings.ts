import type { ConfigReading } from './load.ts'
import type { Path, Problem } from './problem.ts'

/** Paths of the gateway itself, before which no route ever comes. */
interface OwnPaths {
  has(path: string): boolean
}

/** What is allowed but probably not meant: to be told, not refused. */
export function findWarnings({ tree, sourceOf }: ConfigReading, ownPaths: OwnPaths): Problem[] {
  const found: { readonly path: Path; readonly message: string }[] = [
    ...publicRoutes(tree),
    ...shadowedRoutes(tree, ownPaths),
    ...openProxies(tree),
    ...unverifiedUpstreams(tree),
    ...uselessWebSockets(tree),
  ]
  return found.map(({ path, message }) => ({ path, message, source: sourceOf(path) }))
}

type Tree = ConfigReading['tree']

function publicRoutes({ routes }: Tree) {
  return [...routes.entries()]
    .filter(([, { auth }]) => auth === 'none')
    .flatMap(([index, { name, path, host }]) => {
      const at = ['routes', index, 'auth']
      const parent = routes.find(
        (other) => other.auth !== 'none' && isBelow(path, other.path) && mayShareHost(host, other.host),
      )
      if (path === '/')
        return [{ path: at, message: `route "${name}" lets everybody reach everything under /` }]
      if (parent)
        return [{ path: at, message: `route "${name}" is public below the protected route "${parent.name}"` }]
      return []
    })
}

function shadowedRoutes({ routes }: Tree, ownPaths: OwnPaths) {
  return [...routes.entries()]
    .filter(([, { path }]) => ownPaths.has(path))
    .map(([index, { name }]) => ({
      path: ['routes', index, 'path'],
      message: `route "${name}" is never used for this path: it belongs to the gateway itself`,
    }))
}

function openProxies({ trustedProxies }: Tree) {
  return [...trustedProxies.entries()]
    .filter(([, range]) => range.endsWith('/0'))
    .map(([index]) => ({
      path: ['trustedProxies', index],
      message: 'every client is believed about its address: name the proxies themselves',
    }))
}

function unverifiedUpstreams({ upstreams }: Tree) {
  return Object.entries(upstreams)
    .filter(
      ([, { tls, targets }]) =>
        !tls.verify && targets.some(({ url }) => URL.parse(url)?.protocol === 'https:'),
    )
    .map(([name]) => ({
      path: ['upstreams', name, 'tls', 'verify'],
      message: 'whoever answers is taken for the backend: give its certificate as tls.ca instead',
    }))
}

function uselessWebSockets({ routes }: Tree) {
  return [...routes.entries()]
    .filter(([, { websocket, methods }]) => websocket && methods !== undefined && !methods.includes('GET'))
    .map(([index, { name }]) => ({
      path: ['routes', index, 'websocket'],
      message: `route "${name}" takes no GET, and so no WebSocket`,
    }))
}

function isBelow(path: string, parent: string): boolean {
  return path !== parent && path.startsWith(parent.endsWith('/') ? parent : `${parent}/`)
}

/** Whether a request can be for both hosts: no host is any. */
function mayShareHost(a: string | undefined, b: string | undefined): boolean {
  return a === undefined || b === undefined || a.toLowerCase() === b.toLowerCase()
}
