import { get, type IncomingMessage } from 'node:http'
import t from 'tap'
import { startRawBackend } from '../../setup/backend.ts'
import { createRandom, cutAtRandom, type Random } from './random.ts'
import { readResponse } from './read-response.ts'
import { validResponses } from './valid-responses.ts'

interface Understood {
  readonly information: readonly number[]
  readonly status: number | undefined
  readonly reason: string | undefined
  readonly headers: readonly string[] | undefined
  readonly body: string
  readonly trailers: readonly string[]
}

interface Example {
  readonly sent: string
  readonly method: string
}

function readHere({ sent, method }: Example): Understood {
  const { information, head, body, trailers } = readResponse([Buffer.from(sent, 'latin1')], {
    method,
    isClosed: true,
  })
  return {
    information: information.map(({ status }) => status),
    status: head?.status,
    reason: head?.reason,
    headers: head?.headers,
    body,
    trailers: trailers ?? [],
  }
}

/** What Node's own client makes of it. */
function readByNode(url: string, { method }: Example): Promise<Understood> {
  const information: number[] = []
  return new Promise((resolve, reject) => {
    const request = get(url, { method, agent: false, maxHeaderSize: 65_536 }, (response: IncomingMessage) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          information,
          status: response.statusCode,
          reason: response.statusMessage,
          headers: response.rawHeaders,
          body: Buffer.concat(chunks).toString('latin1'),
          trailers: response.rawTrailers,
        }),
      )
    })
    request.on('information', ({ statusCode }) => information.push(statusCode))
    request.on('error', reject)
  })
}

/** A response of random shape that says what it means. */
function makeResponse(random: Random): Example {
  const { below, pick } = random
  const text = (length: number) =>
    random
      .bytes(length)
      .toString('latin1')
      .replaceAll(/[^\x20-\x7e\x80-\xff]/g, 'x')
      .trim()
  const fields = Array.from(
    { length: below(8) },
    () => `X-${below(99)}:${pick(['', ' ', '\t'])}${text(below(30))}\r\n`,
  )
  const body = random.bytes(below(3_000))
  const [framing, framed] = pick([
    [`Content-Length: ${body.length}\r\n`, body.toString('latin1')],
    ['', body.toString('latin1')],
    ['Transfer-Encoding: chunked\r\n', chunk(body, random)],
  ])
  const information = pick([
    '',
    '',
    'HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n',
    'HTTP/1.1 100 Continue\r\n\r\n',
  ])
  const statusLine = `HTTP/1.1 ${pick([200, 206, 404, 500, 799])} ${text(below(12))}\r\n`
  return { sent: `${information}${statusLine}${fields.join('')}${framing}\r\n${framed}`, method: 'GET' }
}

function chunk(body: Buffer, random: Random): string {
  const chunks = cutAtRandom(body, random, 700).map(
    (piece) => `${piece.length.toString(16)}\r\n${piece.toString('latin1')}\r\n`,
  )
  return `${chunks.join('')}0\r\n${random.pick(['', 'X-Sum: 1\r\nX-Sum: 2\r\n'])}\r\n`
}

t.test("valid responses are parsed as Node's own client parses them", async (t) => {
  const random = createRandom(5)
  // Node takes bytes after the end, and a 101, in ways of its own, and refuses a space before an extension, and one
  // length said more than once.
  const known = validResponses
    .filter(({ read }) => read.rest === undefined && read.status !== 101)
    .filter(({ sent }) => !/ ;|content-length.*content-length/is.test(sent))
    .map(({ sent, asked }) => ({ sent, method: asked?.method ?? 'GET' }))
  const examples: readonly Example[] = [...known, ...Array.from({ length: 150 }, () => makeResponse(random))]
  const url = await startRawBackend(t, (socket) => {
    socket.once('data', (request) => {
      const index = Number(/\/(\d+) /.exec(request.toString())?.[1])
      for (const piece of cutAtRandom(Buffer.from(examples[index]?.sent ?? '', 'latin1'), random, 500))
        socket.write(piece)
      socket.end()
    })
  })
  for (const [index, example] of examples.entries()) {
    const byNode = await readByNode(`${url}/${index}`, example)
    t.strictSame(readHere(example), byNode, JSON.stringify(example.sent.slice(0, 60)))
  }
})
