import t from 'tap'
import { observe } from './case-context.ts'
import { groups } from './groups.ts'
import { startGatehouse } from './proxies-under-test.ts'
import { startUpstream } from './upstream.ts'

/** Every case, one after the other, against one gateway and one upstream. */
t.test('fidelity through real sockets', async (t) => {
  const upstream = await startUpstream(t)
  const subject = await startGatehouse(t, upstream.url)
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
