import { until } from '../../setup/net.ts'
import type { Case, Place } from '../case-context.ts'
import type { Asked } from '../upstream.ts'
import { readResponse, readToEnd, valuesOf } from '../wire.ts'

const head = 'PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n'
const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

/** Sends a head that expects a 100, and resolves once the upstream has it. */
async function expectContinue({ upstream, connect }: Place, request = head) {
  let asked: Asked | undefined
  const isOver = Promise.withResolvers<void>()
  upstream.play((one) => {
    asked = one
    return isOver.promise
  })
  const client = await connect()
  client.send(request)
  const arrived = await until('the upstream is asked', () => asked)
  return { client, asked: arrived, over: isOver.resolve }
}

async function accepted(place: Place): Promise<unknown> {
  const { client, asked, over } = await expectContinue(place)
  const expectation = valuesOf(asked.fields, 'expect')
  asked.wire.send('HTTP/1.1 100 Continue\r\n\r\n')
  const interim = await readResponse(client)
  client.send('hello')
  const { body } = await asked.body()
  asked.wire.send(ok)
  const final = await readResponse(client)
  over()
  return [expectation, interim.line, body, final.line]
}

async function refused(place: Place): Promise<unknown> {
  const { client, asked, over } = await expectContinue(place)
  asked.wire.send('HTTP/1.1 417 Expectation Failed\r\nContent-Length: 3\r\n\r\nno!')
  const final = await readResponse(client)
  over()
  return [final.line, final.body]
}

async function impatient(place: Place): Promise<unknown> {
  const { client, asked, over } = await expectContinue(place, `${head}hello`)
  const { body } = await asked.body()
  asked.wire.send(ok)
  let answer = await readResponse(client)
  if (answer.line.includes(' 100 ')) answer = await readResponse(client)
  over()
  return [body, answer.line]
}

/** A long body of which only a part has been sent when the answer comes. */
async function early(place: Place): Promise<unknown> {
  const request = 'PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nbegun'
  const { client, asked, over } = await expectContinue(place, request)
  await asked.wire.readBytes(5)
  asked.wire.send('HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 3\r\n\r\nbig')
  const answer = await readResponse(client)
  over()
  asked.wire.socket.end()
  // Part of a body is no request: what comes behind it must not be read as one.
  client.send('GET /behind HTTP/1.1\r\nHost: x\r\n\r\n')
  const rest = await readToEnd(client)
  return [answer.line, answer.body, rest, place.upstream.lines.includes('GET /behind HTTP/1.1')]
}

export const expectCases: readonly Case[] = [
  {
    name: 'an expectation reaches the upstream, and its 100 the client, before any body',
    run: accepted,
    expected: [['100-continue'], 'HTTP/1.1 100 Continue', 'hello', 'HTTP/1.1 200 OK'],
  },
  {
    name: 'a refusal by the upstream reaches the client instead of a 100',
    run: refused,
    expected: ['HTTP/1.1 417 Expectation Failed', 'no!'],
  },
  {
    name: 'a body that does not wait for the 100 passes',
    run: impatient,
    expected: ['hello', 'HTTP/1.1 200 OK'],
  },
  {
    name: 'an answer before the end of the body reaches the client at once, and ends the connection',
    run: early,
    expected: ['HTTP/1.1 413 Content Too Large', 'big', '', false],
  },
]
