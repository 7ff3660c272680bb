import { createRequire } from 'node:module'
import findMyWay from 'find-my-way'
import express5 from 'router'

/** What a backend finds in a path: the longest of the prefixes below which it takes it to be; undefined = none. */
export type Reader = (path: string) => string | undefined

export interface Router {
  readonly name: string
  readonly foldsCase: boolean
  /** @param prefixes as routes have them, with escapes */
  readerOf(prefixes: readonly string[]): Reader
}

type Handler = (request: object, response: object, next: () => void) => void

interface ExpressRouter {
  (request: object, response: object, done: () => void): void
  use(path: string, handler: Handler): void
}

interface KoaLayer {
  readonly path: string
}

interface KoaRouter {
  readonly stack: readonly KoaLayer[]
  get(paths: readonly string[], handler: () => void): void
  match(path: string, method: string): { readonly pathAndMethod: readonly KoaLayer[] }
}

// The casts are sound: these packages have no types, and the routers of Express 4 and Koa are of these.
const require = createRequire(import.meta.url)
const express4 = require('router-1') as () => ExpressRouter
const Koa = require('@koa/router') as new () => KoaRouter

/** Mounts each prefix, the longest first; backends write them as people do, without escapes, and match as sent. */
function expressReader(router: ExpressRouter, prefixes: readonly string[]): Reader {
  let found: string | undefined
  for (const prefix of longestFirst(prefixes)) {
    router.use(quoted(prefix), () => {
      found = prefix
    })
  }
  return (path) => {
    found = undefined
    router({ url: path, method: 'GET' }, {}, () => {})
    return found
  }
}

function koaReader(prefixes: readonly string[]): Reader {
  const router = new Koa()
  for (const prefix of longestFirst(prefixes)) {
    router.get([quoted(prefix), `${quoted(prefix)}/{*rest}`], () => {})
  }
  const sorted = longestFirst(prefixes)
  return (path) => {
    const [first] = router.match(path, 'GET').pathAndMethod
    return first === undefined ? undefined : sorted[router.stack.indexOf(first) >> 1]
  }
}

function fastifyReader(prefixes: readonly string[], caseSensitive: boolean): Reader {
  const options = {
    caseSensitive,
    // As Fastify 4 reads a semicolon, and Fastify 5 does not.
    useSemicolonDelimiter: caseSensitive,
    ignoreDuplicateSlashes: true,
  }
  const router = findMyWay(options)
  const seen = new Set<string>()
  for (const prefix of prefixes) {
    const decoded = decodeURIComponent(prefix)
    const path = caseSensitive ? decoded : decoded.toLowerCase()
    if (seen.has(path)) continue
    seen.add(path)
    router.on('GET', path, () => {}, { prefix })
    router.on('GET', `${path}/*`, () => {}, { prefix })
  }
  return (path) => (router.find('GET', path)?.store as { readonly prefix: string } | null | undefined)?.prefix
}

/** Matches whole segments of a text after it has read the path as `read` says. */
function plainReader(prefixes: readonly string[], read: (path: string) => string | undefined): Reader {
  const known = longestFirst(prefixes).map((prefix) => ({ prefix, text: decodeURIComponent(prefix) }))
  return (path) => {
    const text = read(path)
    return text === undefined
      ? undefined
      : known.find((one) => text === one.text || text.startsWith(`${one.text}/`))?.prefix
  }
}

function decode(path: string): string | undefined {
  try {
    return decodeURIComponent(path)
  } catch {
    return undefined
  }
}

const joined = (path: string | undefined) => path?.replaceAll(/\/+/g, '/')

export const routers: readonly Router[] = [
  { name: 'Express 4', foldsCase: true, readerOf: (prefixes) => expressReader(express4(), prefixes) },
  {
    name: 'Express 5',
    foldsCase: true,
    // The cast is sound: its types want the requests and responses of node:http, of which it uses the URL and method.
    readerOf: (prefixes) => expressReader(express5() as unknown as ExpressRouter, prefixes),
  },
  { name: '@koa/router', foldsCase: true, readerOf: koaReader },
  { name: 'Fastify', foldsCase: false, readerOf: (prefixes) => fastifyReader(prefixes, true) },
  {
    name: 'Fastify without regard to case',
    foldsCase: true,
    readerOf: (prefixes) => fastifyReader(prefixes, false),
  },
  { name: 'as Django does', foldsCase: false, readerOf: (prefixes) => plainReader(prefixes, decode) },
  {
    name: 'as Go and nginx do',
    foldsCase: false,
    readerOf: (prefixes) => plainReader(prefixes, (path) => joined(decode(path))),
  },
  {
    name: 'as Tomcat does',
    foldsCase: false,
    readerOf: (prefixes) => plainReader(prefixes, (path) => joined(decode(path.replaceAll(/;[^/]*/g, '')))),
  },
  {
    name: 'that decodes twice',
    foldsCase: false,
    readerOf: (prefixes) =>
      plainReader(prefixes, (path) => {
        const decoded = decode(path)
        return decoded === undefined ? undefined : joined(decode(decoded))
      }),
  },
  {
    name: 'as IIS does',
    foldsCase: true,
    readerOf: (prefixes) => {
      const read = plainReader(
        prefixes.map((prefix) => encodeURI(decodeURIComponent(prefix).toUpperCase())),
        (path) => joined(decode(path)?.replaceAll('\\', '/').toUpperCase()),
      )
      const byUpper = new Map(
        prefixes.map((prefix) => [encodeURI(decodeURIComponent(prefix).toUpperCase()), prefix]),
      )
      return (path) => byUpper.get(read(path) ?? '-')
    },
  },
]

function longestFirst(prefixes: readonly string[]): readonly string[] {
  return prefixes.toSorted((a, b) => b.length - a.length)
}

/** What a pattern means literally. */
function quoted(prefix: string): string {
  return prefix.replaceAll(/[.~@!]/g, String.raw`\$&`)
}
