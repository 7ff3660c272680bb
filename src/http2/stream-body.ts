import type { ServerHttp2Stream } from 'node:http2'
import { BodyTooSlow } from '../exchange/malformed-message.ts'
import type { RequestEvents } from '../exchange/request-events.ts'
import { BodyRate, type BodyRateOptions, type BodySender } from '../http1/body-rate.ts'

/** Whose body it is. */
export interface BodyReceiver {
  readonly options: BodyRateOptions
  /** Whether the response has begun. */
  readonly isHeadSent: boolean
  /** The handler of its request; undefined = there is none, or no more. */
  readonly events: RequestEvents | undefined
}

/** The body of a request in HTTP/2, which is held back until it is resumed. */
export class StreamBody implements BodySender {
  isComplete = false
  readonly #stream: ServerHttp2Stream
  readonly #receiver: BodyReceiver
  readonly #rate: BodyRate
  #isRead = false
  /** Name, value, name, value. */
  #trailers: readonly string[] = []

  constructor(stream: ServerHttp2Stream, receiver: BodyReceiver, expectsContinue: boolean) {
    this.#stream = stream
    this.#receiver = receiver
    this.#rate = new BodyRate(receiver.options, this)
    this.#rate.begin(expectsContinue)
  }

  /** @param isWatched whether the client has to send at the minimum rate */
  resume(isWatched: boolean): void {
    if (this.isComplete) return
    if (isWatched) this.#rate.start()
    if (this.#isRead) this.#stream.resume()
    else this.#read()
  }

  pause(): void {
    this.#rate.stop()
    this.#stream.pause()
  }

  /** The client has been sent a `100`. */
  onContinue(): void {
    this.#rate.onContinue()
  }

  /** The client may send the rest at any rate. */
  stopWatching(): void {
    this.#rate.stop()
  }

  get isHeadSent(): boolean {
    return this.#receiver.isHeadSent
  }

  onBodyTooSlow(): void {
    this.#receiver.events?.onBodyError(new BodyTooSlow('the body arrives more slowly than limits.bodyRate'))
  }

  #read(): void {
    this.#isRead = true
    this.#stream.on('trailers', (_fields: object, _flags: number, raw: readonly string[]) => {
      this.#trailers = raw
    })
    this.#stream.on('data', (chunk: Buffer) => {
      this.#rate.count(chunk.length)
      this.#receiver.events?.onBodyData(chunk)
    })
    this.#stream.on('end', () => {
      this.isComplete = true
      this.#rate.stop()
      this.#receiver.events?.onBodyEnd(this.#trailers)
    })
  }
}
