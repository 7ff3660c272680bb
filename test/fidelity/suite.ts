import t from 'tap'
import { type Case, observe } from './case-context.ts'
import { startGatehouse } from './proxies-under-test.ts'
import { startUpstream } from './upstream.ts'

/** Every case of a group, one after the other, against one gateway and one upstream. */
export function checkCases(cases: readonly Case[]): void {
  t.test('fidelity through real sockets', async (t) => {
    const upstream = await startUpstream(t)
    const subject = await startGatehouse(t, upstream.url)
    for (const one of cases) {
      await t.test(one.name, async (t) => {
        t.strictSame(await observe(subject, upstream, one), one.expected)
      })
    }
  })
}
