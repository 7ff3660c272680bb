import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Test } from 'tap'
import { startServer } from '../../setup/backend.ts'

/** A small WebDAV server (RFC 4918) that keeps its tree in memory: files, collections and exclusive locks. */

interface Dav {
  /** By path; undefined for a collection. */
  readonly nodes: Map<string, Buffer | undefined>
  readonly locks: Map<string, string>
}

type Method = (dav: Dav, call: Call) => void

interface Call {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly path: string
  readonly body: Buffer
}

export function startDavServer(t: Test): Promise<string> {
  const dav: Dav = { nodes: new Map([['/', undefined]]), locks: new Map() }
  return startServer(t, async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const path = pathOf(request.url ?? '')
    const method = methods[request.method ?? '']
    if (!method) end(response, 405)
    else if (isLocked(dav, request, path)) end(response, 423)
    else method(dav, { request, response, path, body: Buffer.concat(chunks) })
  })
}

const methods: Readonly<Record<string, Method>> = {
  OPTIONS: (_dav, { response }) =>
    end(response, 200, '', { DAV: '1, 2', Allow: Object.keys(methods).join(', ') }),
  GET: ({ nodes }, { response, path }) => {
    const file = nodes.get(path)
    if (file) end(response, 200, file)
    else end(response, nodes.has(path) ? 405 : 404)
  },
  PUT: ({ nodes }, { response, path, body }) => {
    end(response, nodes.has(path) ? 204 : 201)
    nodes.set(path, body)
  },
  DELETE: ({ nodes }, { response, path }) => end(response, nodes.delete(path) ? 204 : 404),
  MKCOL: ({ nodes }, { response, path }) => {
    if (nodes.has(path)) return end(response, 405)
    nodes.set(path, undefined)
    end(response, 201)
  },
  COPY: (dav, call) => transfer(dav, call, false),
  MOVE: (dav, call) => transfer(dav, call, true),
  PROPFIND: ({ nodes }, { request, response, path }) => {
    const depth = request.headers.depth
    const found = [...nodes.keys()].filter((key) => key === path || (depth === '1' && parentOf(key) === path))
    const parts = found.map((key) => `<D:response><D:href>${key}</D:href></D:response>`)
    end(
      response,
      found.length > 0 ? 207 : 404,
      `<D:multistatus xmlns:D="DAV:">${parts.join('')}</D:multistatus>`,
    )
  },
  PROPPATCH: (_dav, { response, body }) => end(response, 207, body),
  LOCK: ({ locks }, { response, path }) => {
    const token = `opaquelocktoken:${path}`
    locks.set(path, token)
    end(response, 200, '<D:prop xmlns:D="DAV:"/>', { 'Lock-Token': `<${token}>` })
  },
  UNLOCK: ({ locks }, { request, response, path }) => {
    const isHolder = request.headers['lock-token'] === `<${locks.get(path)}>`
    if (isHolder) locks.delete(path)
    end(response, isHolder ? 204 : 409)
  },
}

/** RFC 4918 9.8, 9.9: the destination is a URL, of which the path counts. */
function transfer({ nodes }: Dav, { request, response, path }: Call, isMove: boolean): void {
  const destination = pathOf(new URL(request.headers.destination?.toString() ?? '', 'http://dav').pathname)
  const isThere = nodes.has(destination)
  if (!nodes.has(path)) end(response, 404)
  else if (isThere && request.headers.overwrite === 'F') end(response, 412)
  else {
    nodes.set(destination, nodes.get(path))
    if (isMove) nodes.delete(path)
    end(response, isThere ? 204 : 201)
  }
}

/** Writing to what is locked takes its token (RFC 4918 7). */
function isLocked({ locks }: Dav, request: IncomingMessage, path: string): boolean {
  const token = locks.get(path)
  const isWriting = /^(?:PUT|DELETE|MOVE|PROPPATCH|LOCK)$/.test(request.method ?? '')
  return token !== undefined && isWriting && !request.headers.if?.toString().includes(`<${token}>`)
}

function pathOf(target: string): string {
  const path = decodeURIComponent(target.split('?')[0] ?? '')
  return path.length > 1 ? path.replace(/\/$/, '') : path
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/'
}

function end(
  response: ServerResponse,
  status: number,
  body: string | Buffer = '',
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'Content-Length': Buffer.byteLength(body), ...headers }).end(body)
}
