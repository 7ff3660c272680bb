import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { RawClient } from '../setup/raw-client.ts'

/** A message as it stood on the wire, cut at its seams. */
export interface Message {
  /** Request line or status line. */
  readonly line: string
  /** Field lines as they came. */
  readonly fields: readonly string[]
  readonly framing: 'none' | 'counted' | 'chunked' | 'until closed'
  readonly body: string
  /** Trailer field lines as they came. */
  readonly trailers: readonly string[]
}

/** Any connection, seen from one end. */
export async function connectWire(url: string): Promise<RawClient> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  await once(socket, 'connect')
  return wireOf(socket)
}

export function wireOf(socket: Socket): RawClient {
  return new RawClient(socket.setNoDelay())
}

export async function readHead(wire: RawClient): Promise<{ line: string; fields: readonly string[] }> {
  const [line = '', ...fields] = (await wire.readUntil('\r\n\r\n')).slice(0, -4).split('\r\n')
  return { line, fields }
}

/** The body of a request, as its head announced it. */
export function readRequestBody(
  wire: RawClient,
  fields: readonly string[],
): Promise<Omit<Message, 'line' | 'fields'>> {
  if (isChunked(fields)) return readChunked(wire)
  const length = lengthOf(fields)
  return length === undefined ? Promise.resolve(noBody) : readCounted(wire, length)
}

/** The next response. @param method of the request it answers */
export async function readResponse(wire: RawClient, method = 'GET'): Promise<Message> {
  const head = await readHead(wire)
  const status = Number(head.line.slice(9, 12))
  if (method === 'HEAD' || status < 200 || status === 204 || status === 304) return { ...head, ...noBody }
  if (isChunked(head.fields)) return { ...head, ...(await readChunked(wire)) }
  const length = lengthOf(head.fields)
  if (length !== undefined) return { ...head, ...(await readCounted(wire, length)) }
  return { ...head, framing: 'until closed', body: await readToEnd(wire), trailers: [] }
}

/** All that comes until the other side ends. */
export async function readToEnd(wire: RawClient): Promise<string> {
  let text = ''
  for (;;) {
    const more = await wire.read().catch(() => undefined)
    if (!more) return text
    text += more.toString('latin1')
  }
}

/** Values of a field, by its name in lower case. */
export function valuesOf(fields: readonly string[], name: string): readonly string[] {
  return fields
    .filter((field) => field.toLowerCase().startsWith(`${name}:`))
    .map((field) => field.slice(name.length + 1).trim())
}

const noBody = { framing: 'none', body: '', trailers: [] } as const

function isChunked(fields: readonly string[]): boolean {
  return valuesOf(fields, 'transfer-encoding').join().toLowerCase() === 'chunked'
}

function lengthOf(fields: readonly string[]): number | undefined {
  const [length] = valuesOf(fields, 'content-length')
  return length === undefined ? undefined : Number(length)
}

async function readCounted(wire: RawClient, length: number) {
  const body = await wire.readBytes(length)
  return { framing: 'counted', body: body.toString('latin1'), trailers: [] } as const
}

async function readChunked(wire: RawClient) {
  let body = ''
  for (;;) {
    const size = Number.parseInt(await wire.readUntil('\r\n'), 16)
    if (Number.isNaN(size)) throw new Error(`a chunk without a size after: ${body}`)
    if (size === 0) break
    body += (await wire.readBytes(size)).toString('latin1')
    await wire.readUntil('\r\n')
  }
  const trailers: string[] = []
  for (let line = await wire.readUntil('\r\n'); line !== '\r\n'; line = await wire.readUntil('\r\n')) {
    trailers.push(line.slice(0, -2))
  }
  return { framing: 'chunked', body, trailers } as const
}
