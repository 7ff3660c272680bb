import { once } from 'node:events'
import { createServer } from 'node:net'
import { portOf } from '../setup/net.ts'
import type { RawClient } from '../setup/raw-client.ts'
import type { Scope } from '../setup/redis.ts'
import { type Message, readHead, readRequestBody, wireOf } from './wire.ts'

/** A request as the upstream gets it, to be answered with exactly the bytes given. */
export interface Asked {
  readonly line: string
  readonly fields: readonly string[]
  readonly wire: RawClient
  /** Which connection it came on, counted from 0. */
  readonly connection: number
  /** Reads the body that the head announced. */
  body(): Promise<Omit<Message, 'line' | 'fields'>>
}

/** What the upstream does with a request. Once it is done, the next one on the connection is read. */
export type Script = (asked: Asked) => unknown

export interface Upstream {
  readonly url: string
  /** Request lines of all that was asked, in order. */
  readonly lines: readonly string[]
  /** How the next requests are answered: from now on, all of them. */
  play(script: Script): void
}

/** One server of bare sockets behind the subject, for all cases: what one leaves behind is there for the next. */
export async function startUpstream(scope: Scope): Promise<Upstream> {
  const lines: string[] = []
  let script: Script = () => {}
  let connections = 0
  const wires = new Set<RawClient>()

  async function serve(wire: RawClient, connection: number): Promise<void> {
    for (;;) {
      const head = await readHead(wire)
      lines.push(head.line)
      await script({ ...head, wire, connection, body: () => readRequestBody(wire, head.fields) })
    }
  }
  const server = createServer((socket) => {
    const wire = wireOf(socket)
    wires.add(wire)
    socket.on('close', () => wires.delete(wire))
    // Whatever else a script throws is missed by the case that waits for what it should have done.
    serve(wire, connections++).catch(() => socket.end())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  scope.teardown(() => {
    server.close()
    for (const wire of wires) wire.close()
  })
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    lines,
    play: (next) => {
      script = next
    },
  }
}
