import t from 'tap'
import { receivedChunk, sharedBuffer } from '../../src/http1/read-buffers.ts'
import { LastHead } from '../../src/upstream/last-head.ts'
import { readResponseFraming } from '../../src/upstream/response-framing.ts'
import { parseHead } from '../../src/upstream/response-head.ts'
import { invalidBodies, invalidHeads } from './invalid-responses.ts'
import { createRandom, cutAtRandom } from './random.ts'
import { type Asked, readResponse, wholeOf } from './read-response.ts'
import { validResponses } from './valid-responses.ts'

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n'

/** As the responses of one connection, each in one piece. @returns whether the head of the last was kept */
function isKept(lastHead: LastHead, heads: readonly string[]): boolean {
  for (const text of heads) {
    const bytes = Buffer.from(`${text}\r\n`)
    if (lastHead.find(bytes)) continue
    const head = parseHead(bytes.subarray(0, -2))
    lastHead.keep(bytes, head, readResponseFraming(head.headers, false))
  }
  return lastHead.find(Buffer.from(`${heads.at(-1)}\r\nok`)) !== undefined
}

t.test('a head is kept once it comes a second time', async (t) => {
  t.notOk(isKept(new LastHead(), [ok]))
  t.ok(isKept(new LastHead(), [ok, ok]))
  t.ok(isKept(new LastHead(), [ok, 'HTTP/1.1 404 No\r\n', ok, ok]))
})

t.test('a kept head is found only where all of it has arrived, byte for byte', async (t) => {
  const lastHead = new LastHead()
  isKept(lastHead, [ok, ok])
  const whole = Buffer.from(`${ok}\r\n`)
  t.match(lastHead.find(whole)?.head, { status: 200, headers: ['Content-Length', '2'], repeated: {} })
  for (let end = 0; end < whole.length; end++) t.equal(lastHead.find(whole.subarray(0, end)), undefined)
  for (let at = 0; at < whole.length; at++) {
    const other = Buffer.from(whole)
    other[at] = (other[at] ?? 0) ^ 1
    t.equal(lastHead.find(other), undefined, `${at}`)
  }
})

t.test('heads of 1,024 bytes are kept, longer ones and those that set cookies are not', async (t) => {
  for (const [length, isExpected] of [
    [1_024, true],
    [1_025, false],
    [60_000, false],
  ] as const) {
    const head = `${ok}X: ${'x'.repeat(length - ok.length - 7)}\r\n`
    t.equal(isKept(new LastHead(), [head, head, head]), isExpected, `${length}`)
  }
  const head = `${ok}set-Cookie: a=b\r\n`
  t.notOk(isKept(new LastHead(), [head, head, head]))
})

t.test('what follows a kept head is the same view for the same read, and a new one otherwise', async (t) => {
  const lastHead = new LastHead()
  isKept(lastHead, [ok, ok])
  const received = (text: string) => receivedChunk(sharedBuffer.write(text))
  const restOf = (chunk: Buffer) => (lastHead.find(chunk) ? lastHead.restOf(chunk) : undefined)
  const first = restOf(received(`${ok}\r\nok`))
  t.equal(first?.toString(), 'ok')
  t.equal(restOf(received(`${ok}\r\nno`)), first)
  t.equal(first?.toString(), 'no', 'of the shared memory')
  t.equal(restOf(received(`${ok}\r\nok?`))?.toString(), 'ok?')
  t.equal(restOf(Buffer.from(`${ok}\r\nok`))?.toString(), 'ok')
  t.equal(restOf(received(`${ok}\r\n`))?.length, 0)
  t.equal(restOf(received(`${ok}\r\n1234567`))?.toString(), '1234567')
  const other = ok.replace('OK', 'Fine')
  isKept(lastHead, [other, other])
  t.equal(restOf(received(`${other}\r\n12345`))?.toString(), '12345', 'the same view, but of another head')
})

const responses: readonly { readonly sent: string; readonly asked?: Asked }[] = [
  ...validResponses,
  ...[invalidHeads, invalidBodies].flatMap((group) => Object.values(group).flat()).map((sent) => ({ sent })),
]

t.test('a response is parsed the same whatever came before it on its connection', async (t) => {
  const random = createRandom(20)
  const differences: unknown[] = []
  const lastHead = new LastHead()
  let found = 0
  for (let round = 0; round < 3_000; round++) {
    const { sent, asked } = random.pick(responses)
    const alone = JSON.stringify(readResponse(wholeOf(sent), asked))
    for (let times = 0; times < 4; times++) {
      const pieces = times === 3 ? cutAtRandom(Buffer.from(sent, 'latin1'), random, 40) : wholeOf(sent)
      const reading = JSON.stringify(readResponse(pieces, { ...asked, lastHead }))
      if (reading.includes('"repeated":{}')) found++
      if (reading.replaceAll(',"repeated":{}', '') !== alone) differences.push({ sent, alone, reading })
    }
  }
  t.strictSame(differences, [])
  t.ok(found > 1_000, `${found} were found`)
})
