import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { openOutbox } from '#accounts/mails/outbox.ts'
import { until } from '../../setup/net.ts'

const about = { mail: 'test' }

t.test('mails are sent later, four at a time, and a failed one is reported once', async (t) => {
  const failed: unknown[] = []
  const outbox = openOutbox({ onFailure: (error, { account }) => failed.push([String(error), account]) })
  let started = 0
  const gate = Promise.withResolvers<void>()
  const run = async () => {
    started++
    await gate.promise
    throw new Error('no server')
  }
  for (let count = 0; count < 9; count++) outbox.add({ about: { ...about, account: `a${count}` }, run })
  t.equal(started, 0, 'nothing is sent before the caller is done')
  await until('the first are at work', () => started === 4 || undefined)
  await setImmediate()
  t.equal(started, 4)
  gate.resolve()
  await outbox.close(60_000)
  t.equal(started, 9)
  t.strictSame(failed.length, 9)
  t.strictSame(failed[0], ['Error: no server', 'a0'])
})

t.test(
  'mails beyond the most that may wait are dropped and reported, and closing does not wait for ever',
  async (t) => {
    const failed: string[] = []
    const outbox = openOutbox({ onFailure: (error) => failed.push(String(error)) })
    const run = () => new Promise<void>(() => {})
    for (let count = 0; count < 1_000; count++) outbox.add({ about, run })
    t.strictSame(failed, [], 'at the limit')
    outbox.add({ about, run })
    t.match(failed, [/1000 mails are waiting/])
    for (let count = 0; count < 50; count++) outbox.add({ about, run })
    t.equal(failed.length, 51)
    await outbox.close(1)
  },
)
