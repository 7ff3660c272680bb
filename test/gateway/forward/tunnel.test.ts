import type { Socket } from 'node:net'
import t from 'tap'
import { createRandom, cutAtRandom } from '../../http/outgoing/random.ts'
import { until } from '../../setup/net.ts'
import { memoryInUse } from './memory.ts'
import { openTestTunnel, receive, shortFrame } from './tunnels.ts'

// slow: opens tunnels of every kind

const megabyte = 1_048_576
const tick = () => new Promise((resolve) => setImmediate(resolve))

/** Writes all pieces, with random breaks between them. */
async function writeAll(
  socket: Socket,
  pieces: readonly Buffer[],
  below: (limit: number) => number,
): Promise<void> {
  for (const piece of pieces) {
    socket.write(piece)
    if (below(4) === 0) await tick()
  }
}

t.test('bytes pass exactly, both ways at once, in random pieces and to slow readers', async (t) => {
  const random = createRandom(3)
  const { browser, backend } = await openTestTunnel(t)
  const [up, down] = [random.bytes(megabyte), random.bytes(megabyte)]
  const [atBackend, atBrowser] = [receive(backend), receive(browser)]
  for (const socket of [browser, backend]) {
    socket.on('data', () => {
      if (random.below(3) > 0) return
      socket.pause()
      setImmediate(() => socket.resume())
    })
  }
  await Promise.all([
    writeAll(browser, cutAtRandom(up, random, 20_000), random.below),
    writeAll(backend, cutAtRandom(down, random, 20_000), random.below),
  ])
  await until(
    'all has come',
    () => (atBackend.bytes.length >= up.length && atBrowser.bytes.length >= down.length) || undefined,
  )
  t.ok(atBackend.bytes.equals(up))
  t.ok(atBrowser.bytes.equals(down))
})

t.test('pings, fragments, compressed and unknown frames pass as they are', async (t) => {
  const { browser, backend } = await openTestTunnel(t)
  const [atBackend, atBrowser] = [receive(backend), receive(browser)]
  // Ping, pong, text in three fragments with a ping between, RSV1, reserved opcodes.
  const firsts = [0x89, 0x8a, 0x01, 0x00, 0x89, 0x80, 0xc1, 0x83, 0x8b, 0xf1, 0x02]
  const down = Buffer.concat(firsts.map((first) => shortFrame(`${first}`, { first })))
  const up = Buffer.concat(firsts.map((first) => shortFrame(`${first}`, { first, isMasked: true })))
  backend.write(down)
  browser.write(up)
  await until(
    'all has come',
    () => (atBackend.bytes.length >= up.length && atBrowser.bytes.length >= down.length) || undefined,
  )
  t.ok(atBackend.bytes.equals(up))
  t.ok(atBrowser.bytes.equals(down))
})

t.test('500,000 fragments of one byte pass at constant memory', async (t) => {
  const { browser, backend } = await openTestTunnel(t)
  const fragments = Buffer.concat(
    Array.from({ length: 1_000 }, () => shortFrame('x', { first: 0, isMasked: true })),
  )
  let passed = 0
  backend.on('data', (chunk: Buffer) => {
    passed += chunk.length
  })
  const before = memoryInUse()
  let most = 0
  for (let thousands = 1; thousands <= 500; thousands++) {
    browser.write(fragments)
    await until('they have passed', () => passed === thousands * fragments.length || undefined)
    if (thousands % 100 === 0) most = Math.max(most, memoryInUse() - before)
  }
  t.equal(passed, 500 * fragments.length)
  t.ok(most < 5_000_000, `grew by ${most} bytes`)
})

/** Writes until the other side takes no more. @returns how many bytes that were */
async function writeUntilHeldUp(socket: Socket, pieceBytes: number): Promise<number> {
  let isFlowing = true
  socket.on('drain', () => {
    isFlowing = true
  })
  for (let written = pieceBytes; written < 64 * megabyte; written += pieceBytes) {
    isFlowing = socket.write(Buffer.alloc(pieceBytes, 'x'))
    for (let wait = 0; wait < 20 && !isFlowing; wait++) await tick()
    if (!isFlowing) return written
  }
  throw new Error('it never has backpressure')
}

t.test('a side that does not read holds the other up, and memory stays bounded', async (t) => {
  for (const direction of ['down', 'up'] as const) {
    const { browser, backend, client, upstream } = await openTestTunnel(t)
    const [from, to] = direction === 'down' ? [backend, browser] : [browser, backend]
    to.pause()
    const written = await writeUntilHeldUp(from, megabyte)
    const kept =
      client.writableLength + client.readableLength + upstream.writableLength + upstream.readableLength
    t.ok(kept < 300_000, `${kept} bytes are kept`)
    const received = receive(to)
    to.resume()
    await until('all has come', () => received.bytes.length === written || undefined)
    browser.destroy()
  }
})

t.test('bytes sent before the end of a tunnel reach a slow reader whole', async (t) => {
  for (const direction of ['down', 'up'] as const) {
    const { browser, backend, client, upstream, closings } = await openTestTunnel(t)
    const [from, to] = direction === 'down' ? [backend, browser] : [browser, backend]
    const [source, sink] = direction === 'down' ? [upstream, client] : [client, upstream]
    to.pause()
    // Until some of it waits in the gateway, because the reader and the system take no more.
    let written = 0
    await until('the gateway keeps some', () => {
      written += 16_384
      from.write(Buffer.alloc(16_384, 'x'))
      return sink.writableLength > 0 || undefined
    })
    from.end()
    await until('the gateway has read all', () => source.readableEnded || undefined)
    for (let wait = 0; wait < 20; wait++) await tick()
    const received = receive(to)
    to.resume()
    await until('it has ended', () => received.isEnded || received.isClosed || undefined)
    t.equal(received.bytes.length, written, direction)
    to.end()
    await until('both are closed', () => closings() === 1 || undefined)
  }
})

t.test('a tunnel side that resets closes the other, reported once', async (t) => {
  for (const breaksOff of ['browser', 'backend'] as const) {
    const opened = await openTestTunnel(t)
    const other = receive(breaksOff === 'browser' ? opened.backend : opened.browser)
    opened[breaksOff].resetAndDestroy()
    await until('the other is closed', () => other.isClosed || other.isEnded || undefined)
    await until('the closing is reported', () => opened.closings() === 1 || undefined)
    opened.tunnel.close(1001, 'too late')
    await tick()
    t.equal(opened.closings(), 1)
  }
})
