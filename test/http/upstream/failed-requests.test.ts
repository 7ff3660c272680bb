import t from 'tap'
import { FailedRequests } from '#http/upstream/health.ts'

const from = (clientNetwork: string, accountId?: string) => ({ clientNetwork, accountId })

/** Whether five are enough, after failures of these clients, all at once. */
function areEnough(clients: readonly (ReturnType<typeof from> | undefined)[], enough = 5): boolean {
  const failures = new FailedRequests(enough)
  for (const client of clients) failures.add(1, client)
  return failures.isThresholdReached()
}

const times = <Value>(count: number, value: Value) => Array.from({ length: count }, () => value)

t.test('failures of one client, however many, do not eject a target', async (t) => {
  for (const count of [5, 100, 10_000]) t.notOk(areEnough(times(count, from('a'))))
  t.notOk(areEnough(times(10, from('a')), 1))
})

t.test('failures of one account or of one network alone do not eject a target', async (t) => {
  t.notOk(areEnough(times(100, 0).map((_zero, index) => from(`network ${index}`, 'ada'))))
  t.notOk(areEnough(times(100, 0).map((_zero, index) => from('network', `account ${index}`))))
})

t.test('at most half of the counted failures are of one client', async (t) => {
  const many = times(100, from('a'))
  t.notOk(areEnough([...many, ...times(2, from('b'))]))
  t.ok(areEnough([...many, ...times(3, from('b'))]))
})

t.test('failures of enough clients eject a target', async (t) => {
  const clients = times(5, 0).map((_zero, index) => from(`${index}`))
  t.notOk(areEnough(clients.slice(1)))
  t.ok(areEnough(clients))
})

t.test('requests that could not be sent eject a target, whichever clients they are of', async (t) => {
  t.notOk(areEnough(times(4, undefined)))
  t.ok(areEnough(times(5, undefined)))
  t.ok(areEnough([...times(4, undefined), from('a'), from('b')]))
  t.notOk(areEnough([...times(4, undefined), from('a')]))
})

t.test('failures before the window are not counted', async (t) => {
  const failures = new FailedRequests(2)
  failures.add(1, undefined)
  failures.forgetBefore(1)
  failures.add(2, undefined)
  t.notOk(failures.isThresholdReached())
  failures.forgetBefore(1)
  failures.add(3, undefined)
  t.ok(failures.isThresholdReached())
})
