import t from 'tap'
import { HpackDecoder } from '#http/h2/hpack/decoder.ts'
import { startStreamBackend } from '../http/h2/ask.ts'
import { type FrameConnection, startFrameBackend } from '../http/h2/frame-backend.ts'
import {
  endHeaders,
  endStream,
  fieldBlock,
  frame,
  frameTypes,
  openRawSession,
  uint32,
} from '../http/h2/frames.ts'
import { startGateway } from '../setup/gateway.ts'
import { seedFrom } from './effort.ts'
import { attacks } from './hostile-clients.ts'
import { Random } from './random.ts'
import { runVictims } from './victims.ts'

/** The same each time; `FUZZ_SEED` and `FUZZ_SECONDS` make other runs, or longer ones. */
const seed = seedFrom(2026)
const ms = Number(process.env.FUZZ_SECONDS ?? 1) * 1_000
const attackers = 6
const victims = 4

function nonceOf(path = ''): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

const turn = () => new Promise((resolve) => setTimeout(resolve, 5))

t.test(`hostile clients cost others nothing on the connections to a backend (seed ${seed})`, async (t) => {
  const backend = await startStreamBackend(t, (stream, raw) => {
    const nonce = nonceOf(raw[raw.indexOf(':path') + 1])
    stream.resume().on('end', () => {
      if (stream.destroyed) return
      stream.respond({ ':status': 200 })
      stream.end(nonce === 'large' ? Buffer.alloc(200_000) : nonce)
    })
  })
  const upstreams = { backend: { targets: [{ url: backend.url }], protocol: 'http2' } }
  const gateway = await startGateway(t, { config: { upstreams } })
  const overAt = performance.now() + ms
  const isOver = () => performance.now() > overAt
  const log: string[] = []
  async function attack(index: number): Promise<void> {
    const random = new Random(seed + index)
    while (!isOver()) {
      const session = await openRawSession(t, gateway.url)
      for (let first = 1; !session.socket.destroyed && !isOver() && random.integer(20) > 0; ) {
        const name = random.of(Object.keys(attacks))
        log.push(`${index}: ${name}`)
        first = attacks[name]?.(session, first, random) ?? first
        await turn()
      }
      session.socket.destroy()
    }
  }
  const [{ counts, crossed }] = await Promise.all([
    runVictims(t, gateway.url, victims, isOver),
    ...Array.from({ length: attackers }, (_, index) => attack(index)),
  ])
  t.comment(`${log.length} attacks; victims: ${JSON.stringify([...counts])}`)
  t.strictSame(crossed, [])
  t.strictSame([...counts.keys()].toSorted(), ['GET 200', 'POST 200'], 'no victim has another answer')
})

type Hostility = (connection: FrameConnection, streamId: number, random: Random) => void

/** What a target does with one stream, which must cost no other. */
const ofStreams: Readonly<Record<string, Hostility>> = {
  'a reset': (connection, id, random) => connection.reset(id, random.integer(14)),
  'no status': ({ socket }, id) =>
    socket.write(frame('headers', endHeaders | endStream, id, fieldBlock([['x', 'y']]))),
  'a malformed field': ({ socket }, id) =>
    socket.write(
      frame(
        'headers',
        endHeaders | endStream,
        id,
        fieldBlock([
          [':status', '200'],
          ['x y', 'z'],
        ]),
      ),
    ),
  'less than its length': ({ socket }, id) =>
    socket.write(
      Buffer.concat([
        frame(
          'headers',
          endHeaders,
          id,
          fieldBlock([
            [':status', '200'],
            ['content-length', '9'],
          ]),
        ),
        frame('data', endStream, id, Buffer.from('short')),
      ]),
    ),
  'data before its head': ({ socket }, id) => socket.write(frame('data', 0, id, Buffer.from('early'))),
  'a reset within the body': (connection, id) => {
    connection.socket.write(frame('headers', endHeaders, id, fieldBlock([[':status', '200']])))
    connection.reset(id, 2)
  },
  'an answer twice': (connection, id) => {
    connection.respond(id, 'once')
    connection.socket.write(frame('data', 0, id, Buffer.from('twice')))
  },
  'floods of control frames': ({ socket }, id) =>
    socket.write(
      Buffer.concat([
        ...Array.from({ length: 500 }, () => frame('ping', 0, 0, Buffer.alloc(8))),
        ...Array.from({ length: 100 }, () => frame('settings', 0, 0)),
        ...Array.from({ length: 500 }, () => frame('windowUpdate', 0, 0, uint32(1))),
        frame('resetStream', 0, id, uint32(2)),
      ]),
    ),
}

/** What it does with its connection, which ends the requests that it has, but gives none the answer of another. */
const ofConnections: Readonly<Record<string, Hostility>> = {
  'a GOAWAY': (connection, id, random) => connection.goaway(random.integer(id + 2), random.integer(14)),
  'its end': ({ socket }) => socket.end(),
  'a reset of the connection': ({ socket }) => socket.resetAndDestroy(),
  'any bytes': ({ socket }, _id, random) => socket.write(random.bytes(50)),
  'answers on streams that nobody has opened': (connection, id, random) => {
    for (let count = 0; count < 5; count++) connection.respond(2 * random.integer(id + 10) + 2, 'crossed')
  },
}

for (const [what, kinds, isolates] of [
  ['streams', ofStreams, true],
  ['connections', { ...ofStreams, ...ofConnections }, false],
] as const) {
  t.test(
    `a target that is hostile on its ${what} gives nobody the answer of another (seed ${seed})`,
    async (t) => {
      const random = new Random(seed)
      const decoders = new Map<FrameConnection, HpackDecoder>()
      const paths = new Map<string, string>()
      const backend = await startFrameBackend(t, {
        onFrame: (connection, { type, flags, streamId, payload }) => {
          const key = `${connection.index} ${streamId}`
          if (type === frameTypes.headers) {
            const decoder = decoders.get(connection) ?? new HpackDecoder()
            decoders.set(connection, decoder)
            const fields: string[] = []
            decoder.decode(payload, fields, 100_000)
            paths.set(key, fields[fields.indexOf(':path') + 1] ?? '')
          }
          const isBody = type === frameTypes.headers || type === frameTypes.data
          if (!isBody || (flags & endStream) === 0) return
          const nonce = nonceOf(paths.get(key))
          paths.delete(key)
          if (nonce === 'attack') random.of(Object.values<Hostility>(kinds))(connection, streamId, random)
          else connection.respond(streamId, nonce)
        },
        onConnection: ({ socket }) => void socket.write(frame('windowUpdate', 0, 0, uint32(2 ** 30))),
      })
      const upstreams = {
        backend: {
          targets: [{ url: backend.url }],
          protocol: 'http2',
          health: { passive: { maxFailures: 1000 } },
        },
      }
      const gateway = await startGateway(t, { config: { upstreams } })
      const overAt = performance.now() + ms
      const isOver = () => performance.now() > overAt
      async function provoke(): Promise<void> {
        let session = await openRawSession(t, gateway.url)
        for (let id = 1; !isOver(); id += 2) {
          session.socket.write(
            frame(
              'headers',
              endHeaders | endStream,
              id,
              fieldBlock([
                [':method', 'GET'],
                [':path', '/public/attack'],
                [':scheme', 'http'],
                [':authority', 'a'],
              ]),
            ),
          )
          await turn()
          if (session.socket.destroyed) {
            session = await openRawSession(t, gateway.url)
            id = -1
          }
        }
      }
      const [{ counts, crossed }] = await Promise.all([
        runVictims(t, gateway.url, victims, isOver),
        provoke(),
        provoke(),
      ])
      t.comment(`victims: ${JSON.stringify([...counts])}`)
      t.strictSame(crossed, [])
      t.ok(counts.has('GET 200') && counts.has('POST 200'))
      if (isolates) t.strictSame([...counts.keys()].toSorted(), ['GET 200', 'POST 200'])
    },
  )
}
