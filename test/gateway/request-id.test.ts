import t from 'tap'
import { createRequestId } from '#gateway/arrival/request-id.ts'

t.test('each request ID is a distinct random UUID, across batches', async (t) => {
  const ids = Array.from({ length: 1_000 }, createRequestId)
  t.equal(new Set(ids).size, ids.length)
  const version4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
  t.strictSame(
    ids.filter((id) => !version4.test(id)),
    [],
  )
  // Each digit of the random ones takes every value: 122 bits are drawn, not fewer.
  for (let place = 0; place < 36; place++) {
    const values = new Set(ids.map((id) => id[place])).size
    t.equal(values, [8, 13, 18, 23].includes(place) || place === 14 ? 1 : place === 19 ? 4 : 16)
  }
})
