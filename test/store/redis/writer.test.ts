import t from 'tap'
import { loadScript } from '#store/redis/scripts.ts'
import { openWriter } from '#store/redis/writer.ts'
import { optionsOf } from './place.ts'

t.test('a writer that cannot open its connection refuses each write, not only the first', async (t) => {
  // The driver refuses to be created without a Sentinel.
  const topology = { kind: 'sentinel', name: 'main', nodes: [], password: undefined } as const
  const writer = openWriter(optionsOf({ url: '' }, { topology, replicas: 1, commandTimeoutMs: 250 }), 'any')
  t.teardown(writer.close)
  const write = () => writer.run(loadScript('probe-write'), [[], []])
  await t.rejects(Promise.all([write(), write()]))
  await t.rejects(write())
})
