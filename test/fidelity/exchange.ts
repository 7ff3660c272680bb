import type { Case, Place } from './case-context.ts'
import type { Asked } from './upstream.ts'
import { type Message, readResponse } from './wire.ts'

/** Both sides of one request and its answer. */
export interface Exchanged {
  /** The request as the upstream got it, without what proxies add of their own. */
  readonly asked: Message
  /** The answers that the client got, 1xx included. */
  readonly answers: readonly Message[]
}

export interface ExchangeOptions {
  /** The request, as wire text; `Host: x` is put in behind the request line. */
  readonly request: string
  /** The answer of the upstream, as wire text. */
  readonly answer?: string
  /** Whether the upstream ends the connection behind its answer. */
  readonly isEnded?: boolean
}

/** What proxies add or own: it is not what this is about. */
const ownFields =
  /^(?:host|connection|keep-alive|date|x-forwarded-[a-z]+|x-request-id|x-real-ip|forwarded|via|server):/i

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

/** Sends a request as it stands, answers it as it stands, and returns what became of both. */
export async function exchange(place: Place, options: ExchangeOptions): Promise<Exchanged> {
  const { request, answer = ok, isEnded = false } = options
  let asked: Message | undefined
  place.upstream.play(async ({ line, fields, body, wire }: Asked) => {
    asked = { line, fields: fields.filter(isForwarded), ...(await body()) }
    wire.send(answer)
    if (isEnded) wire.socket.end()
  })
  const client = await place.connect()
  client.send(request.replace('\r\n', '\r\nHost: x\r\n'))
  const answers: Message[] = []
  do {
    const received = await readResponse(client, request.slice(0, request.indexOf(' ')))
    answers.push({ ...received, fields: received.fields.filter(isForwarded) })
  } while (answers.at(-1)?.line.startsWith('HTTP/1.1 1'))
  if (!asked) throw new Error(`the upstream was not asked: ${answers[0]?.line} ${answers[0]?.body}`)
  return { asked, answers }
}

/** A case of one exchange, and what is looked at in it. */
export function exchangeCase(
  name: string,
  options: ExchangeOptions,
  pick: (exchanged: Exchanged) => unknown,
  expected: unknown,
): Case {
  return { name, run: async (place) => pick(await exchange(place, options)), expected }
}

export function isForwarded(field: string): boolean {
  return !ownFields.test(field)
}
