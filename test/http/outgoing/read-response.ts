import { UpstreamFailure } from '#http/outgoing/failure.ts'
import type { ConnectionPersistence, ResponseHead } from '#http/outgoing/response-head.ts'
import { ResponseParser } from '#http/outgoing/response-parser.ts'

export interface Asked {
  readonly method?: string
  readonly isUpgrade?: boolean
  /** Whether the target closes after what it sent. */
  readonly isClosed?: boolean
}

/** What a parser reported of a response, however it was split. */
export interface Reading {
  readonly information: ResponseHead[]
  head: ResponseHead | undefined
  terms: ConnectionPersistence | undefined
  body: string
  trailers: readonly string[] | undefined
  /** What came after a 101. */
  upgradeRest: string | undefined
  /** What came after the end. */
  rest: string
  isComplete: boolean
  /** The message of what it threw. */
  refusal: string | undefined
  /** In which order the parser reported them. */
  readonly order: string[]
}

/** Feeds a parser with the pieces of a response. @throws what is no refusal of the response */
export function readResponse(pieces: readonly Buffer[], asked: Asked = {}): Reading {
  const { method = 'GET', isUpgrade = false, isClosed = false } = asked
  const reading: Reading = {
    information: [],
    head: undefined,
    terms: undefined,
    body: '',
    trailers: undefined,
    upgradeRest: undefined,
    rest: '',
    isComplete: false,
    refusal: undefined,
    order: [],
  }
  const parser = new ResponseParser(recorderOf(reading))
  parser.begin({ method, isUpgrade })
  try {
    for (const piece of pieces) {
      const rest = parser.feed(piece).toString('latin1')
      if (reading.upgradeRest === undefined) reading.rest += rest
      // After a 101 it is no longer the parser that gets what comes.
      else if (rest !== '') reading.upgradeRest += rest
    }
    if (isClosed) parser.finish()
  } catch (error) {
    if (!(error instanceof UpstreamFailure) || error.reason !== 'invalid-response') throw error
    reading.refusal = error.message
  }
  reading.isComplete = parser.isComplete
  return reading
}

function recorderOf(reading: Reading): ConstructorParameters<typeof ResponseParser>[0] {
  function note(what: string): void {
    if (reading.order.at(-1) !== what) reading.order.push(what)
  }
  return {
    onInformation: (head) => {
      note(String(head.status))
      reading.information.push(plain(head))
    },
    onHead: (head, { isPersistent, mayHaveStrayBody = false, keepAliveMs }) => {
      if (reading.head) throw new Error('a second head')
      note('head')
      reading.head = plain(head)
      reading.terms = { isPersistent, mayHaveStrayBody, keepAliveMs }
    },
    onData: (chunk) => {
      if (chunk.length === 0) throw new Error('data without data')
      note('data')
      reading.body += chunk.toString('latin1')
    },
    onEnd: (trailers, last = '') => {
      if (reading.trailers) throw new Error('a second end')
      if (last !== '') note('data')
      reading.body += last
      note('end')
      reading.trailers = trailers
    },
    onUpgrade: (head, rest) => {
      note('upgrade')
      reading.head = plain(head)
      reading.upgradeRest = rest.toString('latin1')
    },
  }
}

/** What is known of a head once its event is over. */
function plain({ status, reason, headers }: ResponseHead): ResponseHead {
  return { status, reason, headers }
}

/** In one piece. */
export function wholeOf(text: string): readonly Buffer[] {
  return [Buffer.from(text, 'latin1')]
}

export function bytesOf(text: string): readonly Buffer[] {
  return Array.from(text, (character) => Buffer.from(character, 'latin1'))
}

/** In two pieces, cut at every place there is. */
export function halvesOf(text: string): readonly (readonly Buffer[])[] {
  const bytes = Buffer.from(text, 'latin1')
  return Array.from({ length: bytes.length - 1 }, (_, index) => [
    bytes.subarray(0, index + 1),
    bytes.subarray(index + 1),
  ])
}
