import type { Case, Place } from '../case-context.ts'
import type { Asked } from '../upstream.ts'
import { connectWire, readResponse } from '../wire.ts'

/** What the upstream answers to the marked request: its own mark, in ways that may leave something behind. */
const answers: Readonly<Record<string, (mark: string) => string>> = {
  right: (mark) => counted(mark, mark.length),
  long: (mark) => counted(`${mark}${counted('stray', 5)}`, mark.length),
  'in two lengths': (mark) =>
    `HTTP/1.1 200 OK\r\nContent-Length: ${mark.length}\r\nContent-Length: ${mark.length + 40}\r\n\r\n${mark}${counted('stray', 5)}`,
  twice: (mark) => counted(mark, mark.length) + counted('stray', 5),
  'behind no content': () => `HTTP/1.1 204 No Content\r\n\r\n${counted('stray', 5)}`,
  'behind its chunks': (mark) =>
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${mark.length.toString(16)}\r\n${mark}\r\n0\r\n\r\n${counted('stray', 5)}`,
}

function counted(body: string, length: number): string {
  return `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n${body}`
}

/** Short ones end their connection: nothing else marks where they are over. */
function answer({ line, wire }: Asked): void {
  const [, way = '', mark = ''] = line.split(' ')[1]?.split('/').map(decodeURIComponent) ?? []
  if (way === 'short') {
    wire.send(counted(mark, mark.length + 10))
    wire.socket.end()
  } else wire.send(answers[way]?.(mark) ?? counted('unknown', 7))
}

const clients = 24
const rounds = 12

/** Many clients at once over one pool: each gets its own mark, or no whole answer, and never another's. */
async function marked(place: Place): Promise<unknown> {
  place.upstream.play(answer)
  const ways = [...Object.keys(answers), 'short', 'right', 'right']
  const strays: string[] = []
  let right = 0
  async function visit(client: number): Promise<void> {
    let wire = await place.connect()
    for (let round = 0; round < rounds; round++) {
      const way = ways[(client * 7 + round) % ways.length] ?? ''
      const mark = `mark-${client}-${round}`
      wire.send(`GET /${encodeURIComponent(way)}/${mark} HTTP/1.1\r\nHost: x\r\n\r\n`)
      const got = await readResponse(wire).catch(() => undefined)
      if (got?.body === mark) right++
      else if (got?.line.startsWith('HTTP/1.1 200')) strays.push(`${mark} ${way}: ${got.body}`)
      if (got && way === 'right') continue
      wire.close()
      wire = await connectWire(place.subject.url)
    }
    wire.close()
  }
  await Promise.all(Array.from({ length: clients }, (_, client) => visit(client)))
  return { strays, isMostlyRight: right > (clients * rounds) / 3 || right }
}

export const crossingCases: readonly Case[] = [
  {
    name: 'short, long and doubled answers never reach another client',
    run: marked,
    expected: { strays: [], isMostlyRight: true },
  },
]
