import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { parseArgs } from 'node:util'
import { changesMax } from '#store/changes.ts'
import { createKeyNames } from '#store/redis/data-layout.ts'
import { loadScript } from '#store/redis/scripts.ts'
import { until } from '../../test/setup/net.ts'

/**
 * Instances reduced to what Redis sees of them: two connections each, readings of the change log, a heartbeat a second,
 * and two look-ups of an account that has changed (when the change is heard, and when it is read).
 * They measure nothing; a thousand whole gateways would need more than the two cores of a small machine.
 */

const heartbeatIntervalMs = 1_000
const heartbeatTimeoutMs = 15_000
const keys = createKeyNames('gh:')
const { values } = parseArgs({
  options: { port: { type: 'string' }, count: { type: 'string' }, 'poll-ms': { type: 'string' } },
})
const count = Number(values.count)
const pollIntervalMs = Number(values['poll-ms'])

/** A command in RESP, as the driver sends it. */
function command(words: readonly (string | number)[]): string {
  const parts = words.map(String).map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`)
  return `*${words.length}\r\n${parts.join('')}`
}

function call(script: string, names: readonly string[], args: readonly (string | number)[]): string {
  const sha = createHash('sha1').update(loadScript(script).source).digest('hex')
  return command(['EVALSHA', sha, names.length, ...names, ...args])
}

const logKeys = [keys.log, keys.head, keys.storeId, keys.format]
/** The same text for all instances at a position. */
const reading = { position: -1, text: '' }

function readingAfter(position: number): string {
  if (reading.position !== position) {
    reading.position = position
    reading.text = call('read-changes', logKeys, [position, changesMax])
  }
  return reading.text
}

async function open(): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port: Number(values.port), noDelay: true })
  await once(socket, 'connect')
  return socket
}

/** Fails on a reply that is an error: a replayed instance without its script would cost Redis nothing. */
function expectNoError(chunk: Buffer): void {
  if (chunk[0] === 0x2d) throw new Error(`Redis answered ${chunk.toString('latin1').trim()}`)
}

/** @returns how many readings were answered */
async function openInstance(index: number): Promise<() => number> {
  const requests = await open()
  const subscribed = await open()
  let position = 0
  /** Positions that the next reading gives again. */
  let unread: string[] = []
  let answered = 0
  requests.on('data', (chunk: Buffer) => {
    expectNoError(chunk)
    answered++
  })
  subscribed.on('data', (chunk: Buffer) => {
    for (const [, heard, accountId = ''] of chunk.toString().matchAll(/(\d+) [\d.]+ account (\S+)\r\n/g)) {
      const lookUp = command(['GET', keys.account(accountId)])
      requests.write(lookUp)
      unread.push(lookUp)
      position = Number(heard)
    }
  })
  subscribed.write(command(['SUBSCRIBE', keys.channel]))
  let readPosition = 0
  setInterval(() => {
    requests.write(readingAfter(readPosition) + unread.join(''))
    readPosition = position
    unread = []
  }, pollIntervalMs)
  const beat = call('heartbeat', [keys.instances], [`replayed-${process.pid}-${index}`, heartbeatTimeoutMs])
  setInterval(() => requests.write(beat), heartbeatIntervalMs)
  return () => answered
}

const opened: (() => number)[] = []
for (let index = 0; index < count; index++) {
  opened.push(await openInstance(index))
  // The readings of a fleet are spread over time.
  await new Promise((resolve) => setTimeout(resolve, 5))
}
process.on('disconnect', () => process.exit())
await until('every instance has been answered', () => opened.every((answered) => answered() > 0))
process.send?.({ kind: 'open' })
