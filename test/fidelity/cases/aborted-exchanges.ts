import { until } from '../../setup/net.ts'
import type { Case, Place } from '../case-context.ts'
import type { Asked } from '../upstream.ts'
import { readHead, readResponse, readToEnd } from '../wire.ts'

const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

/** Asks, and leaves the answer to the case. */
async function begin({ upstream, connect }: Place, request = get) {
  let asked: Asked | undefined
  const isOver = Promise.withResolvers<void>()
  upstream.play((one) => {
    asked = one
    return isOver.promise
  })
  const client = await connect()
  client.send(request)
  return { client, asked: await until('the upstream is asked', () => asked), over: isOver.resolve }
}

function isGone(asked: Asked): Promise<boolean> {
  return until(
    'the upstream sees the end',
    () => asked.wire.socket.destroyed || asked.wire.socket.readableEnded,
    5_000,
  )
}

/** The client leaves before, in the middle of, and while it sends. */
async function clientLeaves(
  place: Place,
  request: string,
  answer: string,
  isReset: boolean,
): Promise<unknown> {
  const { client, asked } = await begin(place, request)
  asked.wire.send(answer)
  if (answer !== '') await client.read()
  if (isReset) client.socket.resetAndDestroy()
  else client.socket.destroy()
  return isGone(asked)
}

/** The upstream leaves; what is whole for the client is what the upstream made whole. */
async function upstreamLeaves(place: Place, answer: string, isReset: boolean): Promise<unknown> {
  const { client, asked } = await begin(place)
  asked.wire.send(answer)
  const { line } = await readHead(client)
  if (isReset) asked.wire.socket.resetAndDestroy()
  else asked.wire.socket.end()
  const rest = await readToEnd(client)
  return [line, /(?:^|\r\n)0\r\n\r\n$/.test(rest), rest.replaceAll(/[^a-z]/g, '').includes('begun')]
}

async function neverAnswered(place: Place, isReset: boolean): Promise<unknown> {
  const { client, asked } = await begin(place, get.replace('GET', 'POST'))
  if (isReset) asked.wire.socket.resetAndDestroy()
  else asked.wire.socket.end()
  return (await readResponse(client)).line.slice(0, 12)
}

/** A client that says it will send no more still hears its answer (RFC 9112 9.6). */
async function halfClosed(place: Place, request: string): Promise<unknown> {
  const { client, asked, over } = await begin(place, request)
  client.socket.end()
  // Long enough for a proxy that gives up on such clients to do so.
  await new Promise((resolve) => setTimeout(resolve, 200))
  await asked.body()
  asked.wire.send(ok)
  over()
  return (await readResponse(client)).body
}

async function keptAlive({ upstream, connect }: Place): Promise<unknown> {
  upstream.play(async ({ line, body, wire }) => {
    await body()
    wire.send(`HTTP/1.1 200 OK\r\nContent-Length: ${line.length}\r\n\r\n${line}`)
  })
  const client = await connect()
  const requests = ['GET /1', 'HEAD /2', 'POST /3', 'GET /4']
  // All at once: each is answered, in order (RFC 9112 9.3.2).
  for (const request of requests) {
    const body = request.startsWith('POST') ? 'Content-Length: 4\r\n\r\nbody' : '\r\n'
    client.send(`${request} HTTP/1.1\r\nHost: x\r\n${body}`)
  }
  const bodies: string[] = []
  for (const request of requests) bodies.push((await readResponse(client, request.split(' ')[0])).body)
  return bodies
}

const counted = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun'
const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nbegun\r\n'
const openEnded = 'HTTP/1.1 200 OK\r\n\r\nbegun'
const upload = 'PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nbegun'

export const endingCases: readonly Case[] = [
  ...[false, true].flatMap((isReset): readonly Case[] => {
    const how = isReset ? 'by a reset' : 'by closing'
    const leaves = (request: string, answer: string) => (place: Place) =>
      clientLeaves(place, request, answer, isReset)
    return [
      {
        name: `a client that leaves before its answer, ${how}, cancels the request`,
        run: leaves(get, ''),
        expected: true,
      },
      {
        name: `a client that leaves in its answer, ${how}, cancels the request`,
        run: leaves(get, counted),
        expected: true,
      },
      {
        name: `a client that leaves in its upload, ${how}, cancels the request`,
        run: leaves(upload, ''),
        expected: true,
      },
      {
        name: `an upstream that leaves in a counted body, ${how}, breaks the connection of the client`,
        run: (place) => upstreamLeaves(place, counted, isReset),
        expected: ['HTTP/1.1 200 OK', false, true],
      },
      {
        name: `an upstream that leaves between chunks, ${how}, breaks the connection of the client`,
        run: (place) => upstreamLeaves(place, chunked, isReset),
        expected: ['HTTP/1.1 200 OK', false, true],
      },
      {
        name: `an upstream that leaves before it answers, ${how}, is a 502`,
        run: (place) => neverAnswered(place, isReset),
        expected: 'HTTP/1.1 502',
      },
    ]
  }),
  {
    name: 'a body without a length that ends by a reset is incomplete',
    run: (place) => upstreamLeaves(place, openEnded, true),
    expected: ['HTTP/1.1 200 OK', false, true],
  },
  {
    name: 'a half-closed client gets the answer',
    run: (place) => halfClosed(place, get),
    expected: 'ok',
  },
  {
    name: 'a client half-closed behind a body gets the answer',
    run: (place) => halfClosed(place, 'PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi'),
    expected: 'ok',
  },
  {
    name: 'requests sent at once are answered in order',
    run: keptAlive,
    expected: ['GET /1 HTTP/1.1', '', 'POST /3 HTTP/1.1', 'GET /4 HTTP/1.1'],
  },
]
