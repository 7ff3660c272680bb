import { METHODS } from 'node:http'
import t from 'tap'
import { roundsFrom, seedFrom } from '../../fuzz/effort.ts'
import { createRandom, type Random } from '../outgoing/random.ts'
import { heads } from './differential-heads.ts'
import { readByNode } from './read-by-node.ts'
import { bytesOf, readHeads } from './read-heads.ts'

/**
 * What is read here and refused by Node, and why that is right. Nothing else of the head is excused: without what is
 * meant Node must read it too.
 */
const laxerOnPurpose = {
  method:
    'any token is a method, and unknown ones are for the backend (RFC 9110 9.1); Node knows a list of them',
  target:
    'forms other than a path, control characters and bytes above 0x7F are no fault of the framing: the path is refused (400 path-ambiguous) or percent-encoded later; Node refuses some in its parser',
}

const nodeMethods = new Set(METHODS)

/** The head with a method and a target that Node knows, where the ones it has are of those that are meant. */
function withoutWhatIsMeant(text: string): string {
  const line = /^((?:\r\n)*)([!#$%&'*+.^_`|~0-9A-Za-z-]+) ([^ \r\n]+) HTTP/.exec(text)
  if (!line) return text
  const [whole, start = '', method = ''] = line
  return `${start}${nodeMethods.has(method) && method !== 'CONNECT' ? method : 'GET'} / HTTP${text.slice(whole.length)}`
}

interface Verdict {
  readonly isRead: boolean
  readonly method?: string | undefined
  readonly target?: string | undefined
  readonly fields?: readonly string[] | undefined
}

function readHere(text: string): Verdict {
  const [head] = readHeads([bytesOf(text)]).heads
  return head === undefined
    ? { isRead: false }
    : { isRead: true, method: head.method, target: head.target, fields: head.rawHeaders }
}

/** Why the two do not agree in a way that is not meant; undefined where they do. */
async function complaintOf(text: string): Promise<string | undefined> {
  const here = readHere(text)
  if (!here.isRead) return undefined
  const byNode = await readByNode(text)
  if (!byNode.isRead) {
    const isMeant = (await readByNode(withoutWhatIsMeant(text))).isRead
    return isMeant ? undefined : 'Node refuses it'
  }
  for (const part of ['method', 'target', 'fields'] as const) {
    if (JSON.stringify(here[part]) !== JSON.stringify(byNode[part])) {
      return `${part}: ${JSON.stringify(here[part])}, by Node ${JSON.stringify(byNode[part])}`
    }
  }
  return undefined
}

const interestingPieces = [
  '\r',
  '\n',
  '\0',
  ' ',
  '\t',
  ':',
  '\r\n',
  '\r\n ',
  ',',
  'chunked',
  '0',
  '\x7f',
  '\xe9',
  ';',
  '\r\n\r\n',
  'Content-Length: 1\r\n',
  'Transfer-Encoding: x\r\n',
]

function mutate(text: string, random: Random): string {
  const at = random.below(text.length + 1)
  switch (random.below(4)) {
    case 0:
      return text.slice(0, at) + random.pick(interestingPieces) + text.slice(at)
    case 1:
      return text.slice(0, at) + text.slice(at + 1 + random.below(3))
    case 2:
      return text.slice(0, at) + random.bytes(1).toString('latin1') + text.slice(at + 1)
    default:
      return text.slice(0, at) + random.pick(heads).slice(random.below(30))
  }
}

t.test(
  `no listed head is parsed that Node refuses, or differently from Node (${heads.length} heads)`,
  async (t) => {
    for (const reason of Object.values(laxerOnPurpose)) t.comment(`laxer on purpose: ${reason}`)
    t.ok(heads.length >= 300, `${heads.length} heads`)
    let read = 0
    for (const text of heads) {
      if (readHere(text).isRead) read++
      t.equal(await complaintOf(text), undefined, JSON.stringify(text))
    }
    t.ok(
      read > 50 && read < heads.length - 100,
      `${read} are read: the heads must include valid and invalid ones`,
    )
  },
)

const seed = seedFrom(13)
const rounds = roundsFrom(400)

t.test(`no mutated head is parsed that Node refuses, or differently from Node (seed ${seed})`, async (t) => {
  const random = createRandom(seed)
  let read = 0
  for (let round = 0; round < rounds; round++) {
    let text = random.pick(heads)
    for (let count = 1 + random.below(2); count > 0; count--) text = mutate(text, random)
    if (readHere(text).isRead) read++
    const complaint = await complaintOf(text)
    if (complaint !== undefined) t.fail(`round ${round}: ${complaint}: ${JSON.stringify(text)}`)
  }
  t.ok(read > rounds / 16, `${read} were read`)
})
