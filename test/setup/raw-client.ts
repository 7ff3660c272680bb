import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Test } from 'tap'

export interface RawResponse {
  readonly status: number
  readonly reason: string
  /** The head as it came, without the empty line. */
  readonly head: string
  /** By name in lower case; values of one name are joined with a line break. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly trailers: Readonly<Record<string, string>>
  /** The body as JSON. */
  json(): Record<string, unknown>
}

/** A client that sends exactly the given bytes, and reads what comes, so that nothing is smoothed over. */
export class RawClient {
  readonly socket: Socket
  #received = Buffer.alloc(0)
  #isEnded = false

  constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk])
      socket.emit('news')
    })
    socket.on('close', () => {
      this.#isEnded = true
      socket.emit('news')
    })
    socket.on('error', () => {})
  }

  /** Whether the other side has closed and all it sent has been read. */
  get isEnded(): boolean {
    return this.#isEnded && this.#received.length === 0
  }

  send(data: string | Buffer): this {
    this.socket.write(typeof data === 'string' ? Buffer.from(data, 'latin1') : data)
    return this
  }

  /** The next bytes, at least one. */
  async read(): Promise<Buffer> {
    return this.#take((bytes) => (bytes.length > 0 ? bytes.length : undefined))
  }

  /** What has come and not been read; may be empty. */
  rest(): Buffer {
    const rest = this.#received
    this.#received = Buffer.alloc(0)
    return rest
  }

  /** Up to and with a text. */
  async readUntil(end: string): Promise<string> {
    const bytes = await this.#take((received) => {
      const index = received.indexOf(end)
      return index === -1 ? undefined : index + end.length
    })
    return bytes.toString('latin1')
  }

  async readBytes(count: number): Promise<Buffer> {
    return this.#take((received) => (received.length >= count ? count : undefined))
  }

  /** The next response, 1xx included. @param isHead whether it has no body whatever its head says */
  async response(isHead = false): Promise<RawResponse> {
    const head = (await this.readUntil('\r\n\r\n')).slice(0, -4)
    const [statusLine = '', ...lines] = head.split('\r\n')
    const [, status = '0', reason = ''] = /^HTTP\/1\.1 (\d{3}) ?(.*)$/.exec(statusLine) ?? []
    const headers = parseLines(lines)
    const { body, trailers } = await this.#readBody(Number(status), headers, isHead)
    return {
      status: Number(status),
      reason,
      head,
      headers,
      body,
      trailers,
      json: () => JSON.parse(body) as Record<string, unknown>,
    }
  }

  /** Resolves once the other side has closed. */
  async ended(): Promise<void> {
    while (!this.#isEnded) await once(this.socket, 'news')
  }

  close(): void {
    this.socket.destroy()
  }

  async #readBody(status: number, headers: Readonly<Record<string, string>>, isHead: boolean) {
    const { 'content-length': length, 'transfer-encoding': encoding } = headers
    if (isHead || status < 200 || status === 204 || status === 304) return { body: '', trailers: {} }
    if (encoding === 'chunked') return this.#readChunks()
    if (length !== undefined)
      return { body: (await this.readBytes(Number(length))).toString('latin1'), trailers: {} }
    await this.ended()
    const rest = this.#received.toString('latin1')
    this.#received = Buffer.alloc(0)
    return { body: rest, trailers: {} }
  }

  async #readChunks() {
    let body = ''
    for (;;) {
      const size = Number.parseInt(await this.readUntil('\r\n'), 16)
      if (size === 0) break
      body += (await this.readBytes(size)).toString('latin1')
      await this.readUntil('\r\n')
    }
    const lines: string[] = []
    for (;;) {
      const line = (await this.readUntil('\r\n')).slice(0, -2)
      if (line === '') return { body, trailers: parseLines(lines) }
      lines.push(line)
    }
  }

  async #take(enough: (received: Buffer) => number | undefined): Promise<Buffer> {
    for (;;) {
      const count = enough(this.#received)
      if (count !== undefined) {
        const taken = this.#received.subarray(0, count)
        this.#received = this.#received.subarray(count)
        return taken
      }
      if (this.#isEnded) throw new Error(`closed after: ${this.#received.toString('latin1')}`)
      await once(this.socket, 'news')
    }
  }
}

function parseLines(lines: readonly string[]): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    const value = line.slice(colon + 1).trim()
    fields[name] = fields[name] === undefined ? value : `${fields[name]}\n${value}`
  }
  return fields
}

/** Connects to a URL's host and port; closed with the test. */
export async function connectRaw(t: Test, url: string): Promise<RawClient> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  t.teardown(() => socket.destroy())
  return new RawClient(socket)
}

/** One request on a connection of its own. @param text lines are ended by CR LF whatever they are ended by */
export async function rawRequest(
  t: Test,
  url: string,
  lines: readonly string[],
  body = '',
): Promise<RawResponse> {
  const client = await connectRaw(t, url)
  client.send(`${lines.join('\r\n')}\r\n\r\n${body}`)
  const response = await client.response(lines[0]?.startsWith('HEAD '))
  client.close()
  return response
}
