import t, { type Test } from 'tap'
import type { Arrival } from '#gateway/arrival/arrival.ts'
import { createCors } from '#gateway/arrival/cors.ts'
import { createOwnPaths } from '#gateway/routes/own-paths.ts'
import { createRouteTable } from '#gateway/routes/table.ts'
import { answerOptions } from '#gateway/server/no-content.ts'
import type { Traffic } from '#gateway/server/server.ts'
import { framingTable } from '#http/message/name-table.ts'
import { usualFieldReader } from '../setup/carriers.ts'
import { until } from '../setup/net.ts'
import { connectRaw } from '../setup/raw-client.ts'
import { startServerOf } from './support/own-server.ts'

/** A part of the traffic that a request used, and how many times the traffic had been read by then. */
type Use = readonly [part: string, reading: number]

const ownPaths = createOwnPaths({ enabled: true, path: '/portal' })
const origin = 'https://app.example'
const cors = createCors({ allowsAny: false, origins: [origin], table: createRouteTable([]), ownPaths })

/** A server whose config is another at every reading, as if each was preceded by a reload. */
async function startReloadingServer(t: Test, proxy: (arrival: Arrival) => void) {
  const uses: Use[] = []
  let readings = 0
  function traffic(): Traffic {
    const reading = ++readings
    const use = (part: string) => void uses.push([part, reading])
    return {
      get trusted() {
        use('trusted')
        return { has: () => false }
      },
      get fieldReader() {
        use('fieldReader')
        return usualFieldReader
      },
      observer: {
        begin: () => use('begin'),
        end: () => use('end'),
        recordUnreadable: () => use('unreadable'),
      },
      get cors() {
        use('cors')
        return cors
      },
      get ownPaths() {
        use('ownPaths')
        return ownPaths
      },
      api: {
        routing: (_request, response) => {
          use('api')
          response.end('own')
        },
      },
      proxy: {
        handle: (arrival) => {
          use('proxy')
          proxy(arrival)
        },
        handleOrdinary: () => {},
      },
      names: framingTable,
      fastLane: undefined,
    }
  }
  return { ...(await startServerOf(t, traffic)), uses, readings: () => readings }
}

const answer = (arrival: Arrival) => answerOptions(arrival, ['GET'])
const headOf = (line: string, more = '') => `${line} HTTP/1.1\r\nHost: x\r\n${more}\r\n`
const preflight = `Origin: ${origin}\r\nAccess-Control-Request-Method: GET\r\n`

t.test('each request reads the traffic once, whatever handles it', async (t) => {
  const server = await startReloadingServer(t, answer)
  const client = await connectRaw(t, server.url)
  for (const [index, [name, head, status, handled]] of (
    [
      [
        'a route',
        headOf('GET /'),
        204,
        ['trusted', 'fieldReader', 'begin', 'cors', 'ownPaths', 'proxy', 'end'],
      ],
      [
        'an own path',
        headOf('GET /portal'),
        200,
        ['trusted', 'fieldReader', 'begin', 'cors', 'ownPaths', 'api', 'end'],
      ],
      [
        'the server',
        headOf('OPTIONS *'),
        204,
        ['trusted', 'fieldReader', 'begin', 'cors', 'ownPaths', 'end'],
      ],
      [
        'a preflight',
        headOf('OPTIONS /api/v1/openapi.json', preflight),
        204,
        ['trusted', 'fieldReader', 'begin', 'cors', 'ownPaths', 'end'],
      ],
      [
        'a refusal',
        headOf('GET /a/../b'),
        400,
        ['trusted', 'fieldReader', 'begin', 'cors', 'ownPaths', 'end'],
      ],
      ['a second request to a route', headOf('GET /'), 204, undefined],
    ] as const
  ).entries()) {
    server.uses.length = 0
    t.equal((await client.send(head).response()).status, status, name)
    await until(`${name} is over`, () => server.uses.some(([part]) => part === 'end') || undefined)
    t.equal(server.readings(), index + 1, name)
    if (handled) t.strictSame(new Set(server.uses.map(([part]) => part)), new Set(handled), name)
    t.strictSame(new Set(server.uses.map(([, reading]) => reading)), new Set([index + 1]), name)
  }
})

t.test('a request answered after a reload ends with the observer that recorded its start', async (t) => {
  const held: Arrival[] = []
  const server = await startReloadingServer(t, (arrival) => void held.push(arrival))
  const [slow, quick] = [await connectRaw(t, server.url), await connectRaw(t, server.url)]
  slow.send(headOf('GET /slow'))
  const first = await until('the first is held', () => held[0])
  quick.send(headOf('GET /quick'))
  const second = await until('the second is held', () => held[1])
  server.uses.length = 0
  for (const arrival of [second, first]) answer(arrival)
  t.equal((await slow.response()).status, 204)
  t.equal((await quick.response()).status, 204)
  await until('both are over', () => server.uses.length === 2 || undefined)
  t.strictSame(server.uses, [
    ['end', 2],
    ['end', 1],
  ])
  t.equal(server.readings(), 2)
})

t.test('bytes that are no request read the traffic once, to be logged', async (t) => {
  const server = await startReloadingServer(t, answer)
  const client = await connectRaw(t, server.url)
  t.equal((await client.send('no request\r\n\r\n').response()).status, 400)
  await until('it is logged', () => server.uses.length > 0 || undefined)
  t.strictSame(server.uses, [['unreadable', 1]])
  t.equal(server.readings(), 1)
})
