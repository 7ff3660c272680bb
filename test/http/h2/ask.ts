import { once } from 'node:events'
import {
  type ClientHttp2Session,
  connect,
  createServer,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
  type Settings,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

export interface Answer {
  /** 0 = there was none. */
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly informational: readonly number[]
  readonly trailers: Readonly<Record<string, string>>
  readonly body: string
  /** 0 = the stream ended in order. */
  readonly resetCode: number
}

export interface Asked {
  readonly headers?: OutgoingHttpHeaders
  /** undefined = no body. */
  readonly body?: string | Buffer
  readonly trailers?: OutgoingHttpHeaders
}

/** A client's connection, closed with the test. */
export async function connectHttp2(
  t: Test,
  url: string,
  ca?: string,
  settings: Settings = {},
): Promise<ClientHttp2Session> {
  const session = connect(url, { settings, ...(ca !== undefined && { ca }) })
  session.on('error', () => {})
  t.teardown(() => session.destroy())
  await once(session, 'connect')
  return session
}

export function ask(session: ClientHttp2Session, path: string, asked: Asked = {}): Promise<Answer> {
  const { headers, body, trailers } = asked
  const stream = session.request(
    { ':path': path, ...headers },
    { endStream: body === undefined, waitForTrailers: trailers !== undefined },
  )
  if (body !== undefined) stream.end(body)
  stream.on('wantTrailers', () => stream.sendTrailers(trailers ?? {}))
  const informational: number[] = []
  let head: object = {}
  let received: object = {}
  const chunks: Buffer[] = []
  stream.on('headers', (fields) => informational.push(Number(fields[':status'])))
  stream.on('response', (fields) => {
    head = fields
  })
  stream.on('trailers', (fields) => {
    received = fields
  })
  stream.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => {})
  return new Promise((resolve) => {
    stream.on('close', () => {
      // The cast is sound: only fields that are sent once are read.
      const { ':status': status = 0, ...fields } = { ...head } as Record<string, string>
      resolve({
        status: Number(status),
        headers: fields,
        informational,
        trailers: Object.fromEntries(Object.entries(received)),
        body: Buffer.concat(chunks).toString('latin1'),
        resetCode: stream.rstCode ?? 0,
      })
    })
  })
}

/** The code of a problem, or nothing. */
export function codeOf({ body }: Answer): string {
  return /"code":"([a-z-]+)"/.exec(body)?.[1] ?? ''
}

/** A backend of HTTP/2. */
export interface StreamBackend {
  readonly url: string
  /** How many connections it has got. */
  readonly connections: () => number
}

/** @param onStream gets each request: name, value, name, value */
export async function startStreamBackend(
  t: Test,
  onStream: (stream: ServerHttp2Stream, raw: readonly string[]) => void,
  settings: object = {},
): Promise<StreamBackend> {
  let connections = 0
  const sessions = new Set<{ destroy(): void }>()
  const server = createServer({ settings }).listen(0, '127.0.0.1')
  server.on('session', (session) => {
    connections++
    sessions.add(session)
  })
  server.on('stream', (stream, _headers, _flags, raw: readonly string[]) => {
    stream.on('error', () => {})
    // The cast is sound: a server's streams are of this class.
    onStream(stream as ServerHttp2Stream, raw)
  })
  await once(server, 'listening')
  t.teardown(() => {
    for (const session of sessions) session.destroy()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
  }
}
