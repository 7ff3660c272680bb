import t from 'tap'
import { LingeringClose } from '#http/server/slow-clients.ts'

const gibibyte = 1_073_741_824

t.test('bytes sent after the last answer are discarded up to 1 GiB, and no further', async (t) => {
  const lingering = new LingeringClose()
  lingering.begin(0)
  t.equal(lingering.discard(gibibyte, 1), 2_001)
  t.equal(lingering.discard(1, 2), undefined)
  t.equal(lingering.discard(gibibyte, 3), undefined)
})

t.test('a client that goes on sending after its last answer is closed 2 s after it pauses', async (t) => {
  const lingering = new LingeringClose()
  t.equal(lingering.begin(1_000), 3_000)
  t.equal(lingering.discard(10, 2_999), 4_999)
})

t.test('a client that goes on sending after its last answer is closed after 30 s', async (t) => {
  const lingering = new LingeringClose()
  lingering.begin(0)
  t.equal(lingering.discard(10, 27_999), 29_999)
  t.equal(lingering.discard(10, 28_001), 30_000)
  t.equal(lingering.discard(10, 29_999), 30_000)
})
