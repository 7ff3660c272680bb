import t from 'tap'
import { KnownLine } from '../../src/http1/line-cache.ts'
import { keepStart } from '../../src/proxy/kept-start.ts'
import { parseRequestTarget } from '../../src/routes/request-target.ts'
import { createRandom } from '../upstream/random.ts'

const asSent = { stripPrefix: false, depth: 1 }
const stripped = { stripPrefix: true, depth: 1 }

const lineOf = (method: string, target: string) => new KnownLine({ method, target, minorVersion: 1, end: 0 })

function destinationOf(text: string) {
  const target = parseRequestTarget(text)
  if (!target) throw new Error(text)
  return { target }
}

t.test('the start of a head is the same whether its line is known to repeat or not', async (t) => {
  const random = createRandom(11)
  const lines = ['GET', 'GET', 'POST'].map((method) => lineOf(method, '/v1/a'))
  const destinations = ['/v1/a', '/v1/b', '/v1/a?b=c', '/caf%C3%A9/x'].map((text) => ({
    text,
    destination: destinationOf(text),
  }))
  const differences: unknown[] = []
  for (let round = 0; round < 20_000; round++) {
    // Of another target too: what is kept says for which it is.
    const line = random.pick(lines)
    const { method } = line
    const { text, destination } = random.pick(destinations)
    const sentHost = random.pick(['a.example', '10.0.0.11:3000', '10.0.0.12:3000'])
    const route = random.pick([asSent, stripped, { ...asSent }, { ...stripped }])
    // The very same, as one that is kept, or one that was read anew.
    const sent = random.pick([destination, { ...destination }])
    const got = keepStart(line, { method, destination: sent, route, sentHost })
    const path = route.stripPrefix ? text.slice(text.indexOf('/', 1)) : text
    if (got !== `${method} ${path} HTTP/1.1\r\nHost: ${sentHost}\r\n`)
      differences.push({ method, text, route, sentHost, got })
  }
  t.strictSame(differences, [])
  t.ok(lines.every(({ start }) => start !== ''))
  t.equal(
    keepStart(undefined, {
      method: 'GET',
      destination: destinationOf('/a'),
      route: asSent,
      sentHost: 'a.example',
    }),
    'GET /a HTTP/1.1\r\nHost: a.example\r\n',
  )
})

t.test('the first start that is written for a line is kept, others are not', async (t) => {
  const line = lineOf('GET', '/a')
  const input = { method: 'GET', destination: destinationOf('/a'), route: asSent }
  keepStart(line, { ...input, sentHost: '10.0.0.11:3000' })
  const { start } = line
  for (const sentHost of ['10.0.0.12:3000', '10.0.0.11:3000']) keepStart(line, { ...input, sentHost })
  keepStart(line, { ...input, destination: destinationOf('/a'), sentHost: '10.0.0.11:3000' })
  t.equal(line.start, start)
  t.equal(start, 'GET /a HTTP/1.1\r\nHost: 10.0.0.11:3000\r\n')
})

t.test('a start of 256 characters is kept, longer ones are not', async (t) => {
  const around = 'GET / HTTP/1.1\r\nHost: a.example\r\n'.length
  for (const [length, isKept] of [
    [256, true],
    [257, false],
    [8_000, false],
  ] as const) {
    const destination = destinationOf(`/${'a'.repeat(length - around)}`)
    const line = lineOf('GET', destination.target.path)
    const input = { method: 'GET', destination, route: asSent, sentHost: 'a.example' }
    t.equal(keepStart(line, input).length, length)
    t.equal(line.start !== '', isKept, `${length}`)
  }
})
