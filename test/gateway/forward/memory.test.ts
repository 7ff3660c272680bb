import { get, type IncomingMessage, request } from 'node:http'
import t from 'tap'
import { startServer } from '../../setup/backend.ts'
import { until } from '../../setup/net.ts'
import { memoryInUse } from './memory.ts'
import { startProxy } from './proxies.ts'

// slow: 64 MiB to slow readers and targets
// timed: watches memory

const megabyte = 1_048_576
const total = 64 * megabyte
const piece = Buffer.alloc(65_536, 'x')
/** What the sockets between may hold; without back-pressure it would be most of what is sent. */
const heldBytesMax = 12 * megabyte

/** Writes it all, as fast as the other side takes it. @returns how much has been written so far */
function writeAll(to: NodeJS.WritableStream): () => number {
  let written = 0
  function write(): void {
    while (written < total) {
      written += piece.length
      if (!to.write(piece)) return
    }
    to.end()
  }
  to.on('drain', write)
  write()
  return () => written
}

/** Reads it all, with breaks, in which memory is looked at. */
async function readSlowly(from: IncomingMessage) {
  const before = memoryInUse()
  const read = { bytes: 0, growth: 0 }
  let untilBreak = 8 * megabyte
  from.on('data', (chunk: Buffer) => {
    read.bytes += chunk.length
    untilBreak -= chunk.length
    if (untilBreak > 0) return
    untilBreak = 8 * megabyte
    from.pause()
    setTimeout(() => {
      read.growth = Math.max(read.growth, memoryInUse() - before)
      from.resume()
    }, 50)
  })
  await new Promise((resolve) => from.on('end', resolve))
  return read
}

t.test('a download of 64 MiB to a slow reader passes at bounded memory', async (t) => {
  const backend = await startServer(t, (_request, response) => {
    response.setHeader('Content-Length', total)
    writeAll(response)
  })
  const { url } = await startProxy(t, backend)
  const response = await new Promise<IncomingMessage>((resolve) => get(url, resolve))
  const { bytes, growth } = await readSlowly(response)
  t.equal(bytes, total)
  t.ok(growth < heldBytesMax, `grew by ${growth} bytes`)
})

t.test('a target cannot get ahead of a reader by more than the buffers between', async (t) => {
  let written = () => 0
  const backend = await startServer(t, (_request, response) => {
    written = writeAll(response)
  })
  const { url } = await startProxy(t, backend)
  const client = get(url, (response) => response.pause())
  let before = -1
  await until('the target has backpressure', async () => {
    if (written() > 0 && written() === before) return true
    before = written()
    await new Promise((resolve) => setTimeout(resolve, 50))
    return undefined
  })
  t.ok(written() < total / 2, `${written()} bytes were written ahead`)
  client.destroy()
})

t.test('an upload of 64 MiB to a slow target passes at bounded memory, in both framings', async (t) => {
  let growth = 0
  const backend = await startServer(t, async (incoming, response) => {
    const read = await readSlowly(incoming)
    growth = read.growth
    response.end(String(read.bytes))
  })
  const { url } = await startProxy(t, backend)
  for (const headers of [{ 'Content-Length': total }, { 'Transfer-Encoding': 'chunked' }]) {
    const upload = request(url, { method: 'PUT', headers })
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      upload.on('response', resolve).on('error', reject)
    })
    writeAll(upload)
    const chunks = await (await answered).toArray()
    t.equal(chunks.join(''), String(total))
    t.ok(growth < heldBytesMax, `grew by ${growth} bytes`)
  }
})
