import t from 'tap'
import { watchDescriptors } from '#gateway/server/descriptors.ts'

t.test('connections are accepted until 16 file descriptors are left', async (t) => {
  for (const [used, mayAccept] of [
    [83, true],
    [84, false],
    [100, false],
  ] as const) {
    t.equal(watchDescriptors(100, () => used)(50), mayAccept, `${used} of 100 in use`)
  }
})

t.test('connections accepted since the last count of descriptors are counted too', async (t) => {
  const mayAccept = watchDescriptors(100, () => 80)
  t.equal(mayAccept(50), true)
  t.equal(mayAccept(53), true)
  t.equal(mayAccept(54), false)
})

t.test('with few connections descriptors are counted only once, at the start', async (t) => {
  let counted = 0
  const mayAccept = watchDescriptors(1_000, () => {
    counted++
    return 0
  })
  for (let open = 0; open < 250; open++) t.ok(mayAccept(open))
  t.equal(counted, 1)
})
