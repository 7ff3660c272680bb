import t from 'tap'
import { readEvents } from '#library/verify/revocation-events.ts'

const stream = 'data: one\n\ndata: zwei ü\n\n: a comment\n\ndata: three\n\n'
const bytes = Buffer.from(stream)

async function read(chunks: readonly Uint8Array[]): Promise<readonly string[]> {
  const events: string[] = []
  for await (const event of readEvents(ReadableStream.from(chunks) as ReadableStream<Uint8Array>))
    events.push(event)
  return events
}

t.test('events are whole wherever a stream is split, and one that is cut off is none', async (t) => {
  const all = ['one', 'zwei ü', 'three']
  t.strictSame(await read([...bytes].map((byte) => Uint8Array.of(byte))), all)
  for (let at = 0; at <= bytes.length; at++) {
    t.strictSame(await read([bytes.subarray(0, at), bytes.subarray(at)]), all)
    const before = await read([bytes.subarray(0, at)])
    t.strictSame(before, all.slice(0, before.length), `cut after ${at} bytes`)
  }
})

t.test('an event of more than a mebibyte is not kept', async (t) => {
  const part = Buffer.alloc(65_536, 'x')
  t.equal((await read([...Array.from({ length: 16 }, () => part), Buffer.from('\n\n')])).length, 0)
  await t.rejects(read(Array.from({ length: 17 }, () => part)), /too long/)
})
