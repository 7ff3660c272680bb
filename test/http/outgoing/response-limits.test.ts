import t from 'tap'
import { readResponse, wholeOf } from './read-response.ts'

const ok = 'HTTP/1.1 200 OK\r\n'

/** A response whose head, less the empty line, has so many bytes. */
function withHeadOf(bytes: number): string {
  const start = `${ok}Content-Length: 0\r\nX: `
  return `${start}${'x'.repeat(bytes - start.length)}\r\n\r\n`
}

function withSizeLineOf(bytes: number): string {
  return `${ok}Transfer-Encoding: chunked\r\n\r\n${'2'.padStart(bytes, '0')}\r\nok\r\n0\r\n\r\n`
}

function withTrailersOf(bytes: number): string {
  return `${ok}Transfer-Encoding: chunked\r\n\r\n0\r\nX: ${'x'.repeat(bytes - 3)}\r\n\r\n`
}

/** In two pieces, cut at a few places around one. */
function cutsAround(sent: string, place: number): readonly (readonly Buffer[])[] {
  const [bytes = Buffer.alloc(0)] = wholeOf(sent)
  return Array.from({ length: 12 }, (_, index) => place - 6 + index)
    .filter((cut) => cut > 0 && cut < bytes.length)
    .map((cut) => [bytes.subarray(0, cut), bytes.subarray(cut)])
}

const limits = [
  { what: 'a head', bytesMax: 65_536, make: withHeadOf, endsWith: '\r\n\r\n' },
  { what: 'a chunk size line', bytesMax: 13, make: withSizeLineOf, endsWith: '\r\nok' },
  { what: 'a trailer section', bytesMax: 16_384, make: withTrailersOf, endsWith: '\r\n\r\n' },
]

for (const { what, bytesMax, make, endsWith } of limits) {
  t.test(`${what} of ${bytesMax} bytes is accepted, of one more refused`, async (t) => {
    t.hasStrict(readResponse(wholeOf(make(bytesMax))), { refusal: undefined, isComplete: true })
    t.match(readResponse(wholeOf(make(bytesMax + 1))), { refusal: String, isComplete: false })
  })

  t.test(`${what} at its limit gives the same result wherever it is split`, async (t) => {
    for (const bytes of [bytesMax, bytesMax + 1]) {
      const sent = make(bytes)
      const whole = readResponse(wholeOf(sent))
      for (const pieces of cutsAround(sent, sent.lastIndexOf(endsWith) + 2)) {
        const { isComplete, refusal } = readResponse(pieces)
        t.strictSame({ isComplete, refusal }, { isComplete: whole.isComplete, refusal: whole.refusal })
      }
    }
  })

  if (bytesMax < 1_000) continue
  t.test(`${what} that never ends is refused as soon as it is too long`, async (t) => {
    const endless = make(bytesMax * 4).slice(0, -8)
    const [bytes = Buffer.alloc(0)] = wholeOf(endless)
    const pieces = Array.from({ length: Math.ceil(bytes.length / 1_000) }, (_, index) =>
      bytes.subarray(index * 1_000, (index + 1) * 1_000),
    )
    const fed = pieces.findIndex((_, index) => readResponse(pieces.slice(0, index + 1)).refusal !== undefined)
    t.ok(fed > 0 && fed * 1_000 < bytesMax + 2_100, `refused after ${fed * 1_000} bytes`)
  })
}

t.test('each 1xx has a limit of its own', async (t) => {
  const information = `HTTP/1.1 103 Early Hints\r\nLink: ${'x'.repeat(60_000)}\r\n\r\n`
  t.match(readResponse(wholeOf(`${information}${information}${withHeadOf(60_000)}`)), {
    order: ['103', 'head', 'end'],
    information: { length: 2 },
  })
})

t.test('a response of a thousand fields keeps their order', async (t) => {
  const fields = Array.from({ length: 1_000 }, (_, index) => [`X-${index}`, String(index)])
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const { head } = readResponse(wholeOf(`HTTP/1.1 204 \r\n${lines}\r\n`))
  t.strictSame(head?.headers, fields.flat())
})
