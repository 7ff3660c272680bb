import { Writable } from 'node:stream'
import type { ClientExchange } from '#http/client-exchange.ts'
import {
  bodilessStatuses,
  dateLine,
  type IncomingMessage,
  STATUS_CODES,
  validateHeaderName,
  validateHeaderValue,
} from '#platform/http.ts'

type FieldValue = string | number | readonly string[]

/**
 * The part of a node:http response that Fastify uses, written to an exchange. For HTTP/2, whose streams node:http
 * cannot write to.
 */
export class ExchangeResponse extends Writable {
  readonly req: IncomingMessage
  statusCode = 200
  statusMessage = ''
  headersSent = false
  /** Ignored: HTTP/2 streams end individually. */
  shouldKeepAlive = true
  readonly #exchange: ClientExchange
  readonly #onEnding: () => void
  /** By name in lower case. */
  readonly #fields = new Map<string, { readonly name: string; readonly value: FieldValue }>()
  #onWritten: (() => void) | undefined

  /** @param onEnding called before the exchange ends */
  constructor(request: IncomingMessage, exchange: ClientExchange, onEnding: () => void) {
    super()
    this.req = request
    this.#exchange = exchange
    this.#onEnding = onEnding
  }

  setHeader(name: string, value: FieldValue): this {
    validateHeaderName(name)
    for (const text of [value].flat()) validateHeaderValue(name, String(text))
    this.#fields.set(name.toLowerCase(), { name, value })
    return this
  }

  getHeader(name: string): FieldValue | undefined {
    return this.#fields.get(name.toLowerCase())?.value
  }

  getHeaders(): Record<string, FieldValue> {
    return Object.fromEntries([...this.#fields].map(([name, { value }]) => [name, value]))
  }

  hasHeader(name: string): boolean {
    return this.#fields.has(name.toLowerCase())
  }

  removeHeader(name: string): void {
    this.#fields.delete(name.toLowerCase())
  }

  writeHead(status: number, fields: Readonly<Record<string, FieldValue>> = {}): this {
    this.statusCode = status
    for (const [name, value] of Object.entries(fields)) this.setHeader(name, value)
    this.#sendHead()
    return this
  }

  writeContinue(): void {
    this.#exchange.writeInformation(100, '', '')
  }

  /** More may be written. */
  onClientDrain(): void {
    const onWritten = this.#onWritten
    this.#onWritten = undefined
    onWritten?.()
  }

  override _write(chunk: Buffer, _encoding: string, onWritten: () => void): void {
    this.#sendHead()
    if (this.#exchange.write(chunk)) onWritten()
    else this.#onWritten = onWritten
  }

  override _final(onWritten: () => void): void {
    this.#sendHead()
    this.#onEnding()
    this.#exchange.end()
    onWritten()
  }

  override _destroy(error: Error | null, onDestroyed: (error: Error | null) => void): void {
    if (!this.writableFinished && this.#exchange.head !== undefined) this.#exchange.abort()
    onDestroyed(error)
  }

  #sendHead(): void {
    if (this.headersSent) return
    this.headersSent = true
    const isBodiless = this.req.method === 'HEAD' || bodilessStatuses.has(this.statusCode)
    const framing = isBodiless ? 'none' : this.hasHeader('content-length') ? 'counted' : 'chunked'
    const lines = [...this.#fields.values()].flatMap(({ name, value }) =>
      [value].flat().map((text) => `${name}: ${text}\r\n`),
    )
    if (!this.hasHeader('date')) lines.push(dateLine())
    this.#exchange.respond(this.statusCode, STATUS_CODES[this.statusCode] ?? '', lines.join(''), framing)
  }
}
