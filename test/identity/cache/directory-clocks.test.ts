import t from 'tap'
import { now } from '../../store/samples.ts'
import { logged, openDirectory } from './directory-harness.ts'

t.test("a change shortly before a token's issue counts as possibly later, as clocks differ", async (t) => {
  const { directory, contact, time } = await openDirectory(t, { clockToleranceMs: 5_000 })
  const of = { accountId: 'account', sessionId: 'session' }
  const since = (from: number) => directory.isUnchangedSince(of, from)
  t.strictSame(
    [since(now + 4_999), since(now + 5_000)],
    [false, true],
    'nor is what was before the first change',
  )
  directory.apply(logged({ kind: 'account', accountId: 'account' }, now + 10_000))
  t.strictSame([since(now + 15_000), since(now + 15_001)], [false, true])
  time.now = now + 20_000
  directory.apply(logged({ kind: 'session', sessionId: 'session' }, time.now))
  t.strictSame([since(now + 25_000), since(now + 25_001)], [false, true])
  // A token that was issued then by a clock that is ahead is good until now, here.
  time.now = now + 20_000 + 605_000
  directory.apply(logged({ kind: 'account', accountId: 'other' }, time.now))
  t.equal(since(now + 25_000), false, 'it is remembered as long as such a token lives')
  contact.confirmedAt = now + 60_000
  const isNewer = (issuedAt: number) => directory.isAccountNewerThan('account', issuedAt)
  t.strictSame(
    [isNewer(now + 54_000), isNewer(now + 54_001)],
    [true, false],
    'a token may be newer than it says',
  )
})
