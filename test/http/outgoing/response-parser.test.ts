import t from 'tap'
import { bytesOf, halvesOf, readResponse, wholeOf } from './read-response.ts'
import { validResponses } from './valid-responses.ts'

for (const { what, sent, asked, read } of validResponses) {
  t.test(`a valid response is parsed as meant: ${what}`, async (t) => {
    const { status, ...expected } = read
    const whole = readResponse(wholeOf(sent), asked)
    t.equal(whole.refusal, undefined)
    t.equal(whole.head?.status, status)
    t.ok(whole.isComplete)
    for (const [name, value] of Object.entries(expected)) {
      t.strictSame(whole[name as keyof typeof expected], value, name)
    }
    t.equal(whole.rest, expected.rest ?? '')
    t.strictSame(readResponse(bytesOf(sent), asked), whole, 'byte by byte')
    for (const [index, halves] of halvesOf(sent).entries()) {
      const reading = readResponse(halves, asked)
      if (JSON.stringify(reading) !== JSON.stringify(whole))
        t.strictSame(reading, whole, `cut after ${index + 1}`)
    }
  })
}

t.test('a truncated response is never complete', async (t) => {
  for (const { what, sent, asked = {}, read } of validResponses) {
    // Before this length something is missing; until-close bodies have no other end than the close.
    const length = asked.isClosed ? sent.indexOf('\r\n\r\n') + 4 : sent.length - (read.rest?.length ?? 0)
    const needed = read.upgradeRest === undefined ? length : length - read.upgradeRest.length
    for (let end = 0; end < needed; end++) {
      const reading = readResponse(wholeOf(sent.slice(0, end)), { ...asked, isClosed: true })
      if (reading.isComplete || reading.refusal === undefined) t.fail(`${what}, cut after ${end}`)
    }
  }
  t.match(readResponse([], { isClosed: true }), { isComplete: false, refusal: /closed/ })
})

t.test('a complete response takes no more bytes', async (t) => {
  const reading = readResponse([...wholeOf('HTTP/1.1 204 \r\n\r\n'), ...wholeOf('one'), ...wholeOf('two')])
  t.hasStrict(reading, { isComplete: true, rest: 'onetwo', body: '', order: ['head', 'end'] })
})
