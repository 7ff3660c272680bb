import type { Case, Place } from '../case-context.ts'
import { readResponse } from '../wire.ts'

const evil = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil'
const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'

/** Answers that cannot be understood, or only in several ways: nothing of them may pass. */
const unreadable: Readonly<Record<string, string>> = {
  'a length beside chunks': `HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${evil}`,
  'two lengths': `HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Length: ${evil.length}\r\n\r\n${evil}`,
  'lengths in a list that differ': `HTTP/1.1 200 OK\r\nContent-Length: 0, ${evil.length}\r\n\r\n${evil}`,
  'a length with a sign': 'HTTP/1.1 200 OK\r\nContent-Length: +4\r\n\r\nevil',
  'a length that is no number': 'HTTP/1.1 200 OK\r\nContent-Length: four\r\n\r\nevil',
  'a blank before the colon': 'HTTP/1.1 200 OK\r\nContent-Length : 4\r\n\r\nevil',
  'a folded line': 'HTTP/1.1 200 OK\r\nX-A: 1\r\n evil\r\nContent-Length: 0\r\n\r\n',
  'a bare LF between fields': 'HTTP/1.1 200 OK\r\nX-A: 1\nX-B: evil\r\nContent-Length: 0\r\n\r\n',
  'a bare CR in a value': 'HTTP/1.1 200 OK\r\nX-A: 1\revil\r\nContent-Length: 0\r\n\r\n',
  'a zero byte in a value': 'HTTP/1.1 200 OK\r\nX-A: evil\x00\r\nContent-Length: 0\r\n\r\n',
  'a name of no token': 'HTTP/1.1 200 OK\r\nX evil: 1\r\nContent-Length: 0\r\n\r\n',
  'no status': 'HTTP/1.1 evil\r\nContent-Length: 0\r\n\r\n',
  'a status of four digits': 'HTTP/1.1 2000 evil\r\nContent-Length: 0\r\n\r\n',
  'another protocol': 'SIP/2.0 200 evil\r\nContent-Length: 0\r\n\r\n',
  'no head at all': 'evil\r\n\r\n',
  'a 101 that nobody asked for':
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: evil\r\nConnection: upgrade\r\n\r\n',
  'a first chunk without a size': `${chunked}evil\r\n0\r\n\r\n`,
  'a malformed extension of its first chunk': `${chunked}4;=b\r\nevil\r\n0\r\n\r\n`,
  'a first chunk with a sign': `${chunked}+4\r\nevil\r\n0\r\n\r\n`,
}

async function isBadGateway({ upstream, connect }: Place, answer: string): Promise<unknown> {
  upstream.play(({ wire }) => void wire.send(answer))
  const client = await connect()
  client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  const { line, fields, body } = await readResponse(client)
  return { status: line.slice(9, 12), isEvil: /evil/.test(line + fields.join() + body) }
}

/** Bad only behind its first chunk: the head is out already. */
const badLater: Readonly<Record<string, string>> = {
  'a size that is no number': 'zz\r\nevil\r\n0\r\n\r\n',
  'data longer than their size': '3\r\nabcd\r\n0\r\n\r\n',
  'data before a bare LF': '3\r\nabc\n0\r\n\r\n',
  'a size that overflows': 'fffffffffffffffff\r\nevil\r\n0\r\n\r\n',
  'an end in the middle': '4\r\nev',
}

/** The client must not take what it got for the whole. */
async function isBroken({ upstream, connect }: Place, rest: string): Promise<unknown> {
  upstream.play(async ({ wire }) => {
    wire.send(`${chunked}4\r\ngood\r\n`)
    await isRead.promise
    wire.send(rest)
    wire.socket.end()
  })
  const isRead = Promise.withResolvers<void>()
  const client = await connect()
  client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await client.readUntil('good')
  isRead.resolve()
  let text = ''
  for (;;) {
    const more = await client.read().catch(() => undefined)
    if (!more) return { isWhole: /\r\n0\r\n\r\n$/.test(text), isEvil: text.includes('evil') }
    text += more.toString('latin1')
  }
}

export const brokenAnswerCases: readonly Case[] = [
  ...Object.entries(unreadable).map(([name, answer]) => ({
    name: `an answer with ${name} is a 502, and nothing of it passes`,
    run: (place: Place) => isBadGateway(place, answer),
    expected: { status: '502', isEvil: false },
  })),
  ...Object.entries(badLater).map(([name, rest]) => ({
    name: `chunks with ${name} break the connection to the client: no clean end`,
    run: (place: Place) => isBroken(place, rest),
    expected: { isWhole: false, isEvil: false },
  })),
]
