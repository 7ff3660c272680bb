import t from 'tap'
import { roundsFrom, seedFrom } from '../../fuzz/effort.ts'
import { invalidBodies, invalidHeads } from './invalid-responses.ts'
import { createRandom, cutAtRandom, type Random } from './random.ts'
import { type Asked, type Reading, readResponse } from './read-response.ts'
import { validResponses } from './valid-responses.ts'

const valid = validResponses.map(({ sent }) => Buffer.from(sent, 'latin1'))

const seeds: readonly Buffer[] = [
  ...validResponses.map(({ sent }) => sent),
  ...Object.values(invalidHeads).flat(),
  ...Object.values(invalidBodies).flat(),
].map((sent) => Buffer.from(sent, 'latin1'))

const interestingPieces = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  ':',
  ',',
  ';',
  '0\r\n\r\n',
  '\r\n\r\n',
  'chunked',
  'Content-Length: 1\r\n',
].map((text) => Buffer.from(text, 'latin1'))

function mutate(bytes: Buffer, random: Random): Buffer {
  const at = random.below(bytes.length + 1)
  const head = bytes.subarray(0, at)
  switch (random.below(5)) {
    case 0:
      return Buffer.concat([head, random.bytes(1), bytes.subarray(at + 1)])
    case 1:
      return Buffer.concat([head, bytes.subarray(at + 1 + random.below(4))])
    case 2:
      return Buffer.concat([head, random.pick(interestingPieces), bytes.subarray(at)])
    case 3:
      return Buffer.concat([head, random.pick(seeds).subarray(random.below(40))])
    default:
      return Buffer.concat([head, bytes.subarray(Math.max(0, at - random.below(20)))])
  }
}

/** What is wrong with the events of a response, whatever the response; undefined if nothing is. */
function complaintOf(sent: Buffer, reading: Reading): string | undefined {
  const { body, rest, refusal, isComplete, trailers, upgradeRest, order } = reading
  if (body.length + rest.length + (upgradeRest?.length ?? 0) > sent.length) return 'more than was sent'
  if (isComplete !== (trailers !== undefined || upgradeRest !== undefined)) return 'whole without an end'
  if (isComplete && refusal !== undefined) return 'whole and refused'
  return order.includes('end') && order.at(-1) !== 'end' ? 'an event after the end' : undefined
}

const seed = seedFrom(2026)
const rounds = roundsFrom(1_200)

t.test(
  `any response bytes are parsed or refused, with the same result however split (seed ${seed})`,
  async (t) => {
    const random = createRandom(seed)
    let refused = 0
    let whole = 0
    for (let round = 0; round < rounds; round++) {
      let sent = random.pick(random.below(2) === 0 ? seeds : valid)
      for (let count = random.below(4); count > 0; count--) sent = mutate(sent, random)
      const asked: Asked = {
        method: random.pick(['GET', 'GET', 'HEAD']),
        isUpgrade: random.below(4) === 0,
        isClosed: random.below(2) === 0,
      }
      // It throws what is no refusal, a second head and a second end.
      const reading = readResponse([sent], asked)
      const complaint = complaintOf(sent, reading)
      if (complaint !== undefined) t.fail(`round ${round}: ${complaint}`)
      const cut = readResponse(cutAtRandom(sent, random, random.pick([1, 3, 20])), asked)
      if (JSON.stringify(cut) !== JSON.stringify(reading)) t.strictSame(cut, reading, `round ${round}`)
      if (reading.refusal !== undefined) refused++
      if (reading.isComplete) whole++
    }
    // Else the mutations are too wild, or too tame, to say anything.
    t.ok(refused > rounds / 12, `${refused} were refused`)
    t.ok(whole > rounds / 12, `${whole} were whole`)
  },
)

t.test('random bytes are never parsed as a response', async (t) => {
  const random = createRandom(99)
  for (let round = 0; round < 500; round++) {
    const { order } = readResponse(cutAtRandom(random.bytes(300), random, 100), { isClosed: true })
    if (order.length > 0) t.fail(`round ${round} reported ${order}`)
  }
  t.strictSame(readResponse([random.bytes(100)]).order, [])
})
