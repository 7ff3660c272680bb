import t from 'tap'
import { invalidBodies, invalidHeads } from './invalid-responses.ts'
import { bytesOf, halvesOf, readResponse, wholeOf } from './read-response.ts'

/** In one piece, byte by byte, and in two pieces cut anywhere. */
function everyCutOf(sent: string): readonly (readonly Buffer[])[] {
  return [wholeOf(sent), bytesOf(sent), ...halvesOf(sent)]
}

for (const [what, examples] of Object.entries(invalidHeads)) {
  t.test(`a response with ${what} is refused, and nothing of it is passed on`, async (t) => {
    for (const sent of examples) {
      const accepted = everyCutOf(sent)
        .map((pieces) => readResponse(pieces))
        .filter(({ refusal, order, rest }) => refusal === undefined || order.length > 0 || rest !== '')
      t.strictSame(accepted, [], JSON.stringify(sent.slice(0, 80)))
    }
  })
}

for (const [what, examples] of Object.entries(invalidBodies)) {
  t.test(`a response with ${what} is refused, and never completes`, async (t) => {
    for (const sent of examples) {
      const accepted = everyCutOf(sent)
        .map((pieces) => readResponse(pieces))
        .filter(
          ({ refusal, order, body }) => refusal === undefined || order.includes('end') || body.length > 3,
        )
      t.strictSame(accepted, [], JSON.stringify(sent.slice(sent.indexOf('\r\n\r\n'))))
    }
  })
}

t.test('a malformed 1xx fails the exchange like a malformed answer', async (t) => {
  const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
  for (const field of ['X : y', 'X: y\nZ: a', 'X: y\r\n z', 'X: \0']) {
    t.match(readResponse(wholeOf(`HTTP/1.1 103 Early Hints\r\n${field}\r\n\r\n${answer}`)), {
      refusal: /malformed/,
      order: [],
    })
  }
})

t.test('bytes that cannot become a response are refused before the target closes', async (t) => {
  // Else such a target costs each request the whole response timeout.
  for (const sent of [
    'HTTP/1.1 200 OK\nContent-Length: 2\n\nok',
    'SSH-2.0-OpenSSH_10.0\r\n',
    '\x15\x03\x03\0\x02\x02P',
  ]) {
    const { order, refusal } = readResponse(wholeOf(sent))
    t.strictSame(order, [])
    t.type(refusal, 'string', JSON.stringify(sent))
  }
})

t.test('a body without a length is complete only after an orderly close', async (t) => {
  t.hasStrict(readResponse(wholeOf('HTTP/1.1 200 OK\r\n\r\npart')), {
    isComplete: false,
    body: 'part',
    trailers: undefined,
  })
})
