import t from 'tap'
import { keepStart } from '../../src/proxy/kept-start.ts'
import { createRandom } from '../upstream/random.ts'

t.test('the start of a head is the same whether its line is known to repeat or not', async (t) => {
  const random = createRandom(11)
  const lines = Array.from({ length: 5 }, () => ({ destination: undefined, start: undefined }))
  const differences: unknown[] = []
  for (let round = 0; round < 5_000; round++) {
    const method = random.pick(['GET', 'POST'])
    const target = random.pick(['/a', '/v1/a', '/caf%C3%A9'])
    const host = random.pick(['a.example', '10.0.0.11:3000', '10.0.0.12:3000'])
    const got = keepStart(random.pick(lines), method, target, host)
    if (got !== `${method} ${target} HTTP/1.1\r\nHost: ${host}\r\n`)
      differences.push({ method, target, host, got })
  }
  t.strictSame(differences, [])
  t.equal(keepStart(undefined, 'GET', '/a', 'a.example'), 'GET /a HTTP/1.1\r\nHost: a.example\r\n')
})

t.test('the first start that is written for a line is kept, others are not', async (t) => {
  const line = { destination: undefined, start: undefined }
  keepStart(line, 'GET', '/a', '10.0.0.11:3000')
  keepStart(line, 'GET', '/a', '10.0.0.12:3000')
  t.match(line.start, { sentHost: '10.0.0.11:3000', text: 'GET /a HTTP/1.1\r\nHost: 10.0.0.11:3000\r\n' })
})

t.test('a start of 256 characters is kept, longer ones are not', async (t) => {
  const around = 'GET / HTTP/1.1\r\nHost: a.example\r\n'.length
  for (const [length, isKept] of [
    [256, true],
    [257, false],
    [8_000, false],
  ] as const) {
    const line = { destination: undefined, start: undefined }
    const target = `/${'a'.repeat(length - around)}`
    t.equal(keepStart(line, 'GET', target, 'a.example').length, length)
    t.equal(line.start !== undefined, isKept, `${length}`)
  }
})
