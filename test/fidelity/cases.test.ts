import t from 'tap'
import { observe } from './case-context.ts'
import { groups } from './groups.ts'
import { startGatehouse, withoutInternals } from './proxies-under-test.ts'
import { startUpstream } from './upstream.ts'

const ways = {
  'fidelity through real sockets': [],
  'the same without internals of Node': withoutInternals,
}

// Both at the same time, as most of it is waiting.
t.jobs = 2

/** Every case, one after the other, against one gateway and one upstream. */
for (const [way, flags] of Object.entries(ways)) {
  t.test(way, { buffered: true }, async (t) => {
    const upstream = await startUpstream(t)
    const subject = await startGatehouse(t, upstream.url, flags)
    for (const [group, cases] of Object.entries(groups)) {
      await t.test(group, async (t) => {
        for (const one of cases) {
          await t.test(one.name, async (t) => {
            t.strictSame(await observe(subject, upstream, one), one.expected)
          })
        }
      })
    }
  })
}
