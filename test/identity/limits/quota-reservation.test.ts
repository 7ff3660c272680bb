import t from 'tap'
import { createQuotaRequests, Reservation } from '#identity/limits/quota-reservation.ts'
import { quotaWindow } from '#store/quotas.ts'
import { newSqlitePlace } from '../../store/sqlite/place.ts'

t.test('requests that pass while a lost answer is asked for again are not forgotten', async (t) => {
  const store = await (await newSqlitePlace(t)).open()
  const nowMs = Date.UTC(2027, 11, 31)
  const granted: number[] = []
  const failures: unknown[] = []
  let isLost = false
  let beforeAnswer = async () => {}
  const { request } = createQuotaRequests({
    store: {
      takeQuota: async (take) => {
        const grant = await store.takeQuota(take)
        if (isLost) throw new Error('timed out')
        await beforeAnswer()
        granted.push(grant.granted)
        return grant
      },
    },
    clock: () => nowMs,
    monotonic: () => nowMs,
    processes: () => 1,
    onStoreFailure: (error) => failures.push(error),
  })
  const reservation = new Reservation('ada', 'day', quotaWindow('day', nowMs))
  reservation.limit = 1_000
  const wanted = { needed: 0, ahead: 20, kept: 1_000 }
  await request(reservation, wanted)
  isLost = true
  t.equal(await request(reservation, wanted), undefined)
  t.match(failures, [{ message: 'timed out' }])
  isLost = false
  const before = reservation.left
  let passed = 0
  beforeAnswer = async () => {
    beforeAnswer = async () => {}
    for (; passed < 5; passed++) reservation.left--
  }
  await request(reservation, wanted)
  t.equal(passed, 5)
  t.equal(granted.length, 3, 'the first, the lost one, and the next')
  t.equal(reservation.left, before - passed + (granted[1] ?? 0) + (granted[2] ?? 0))
})

t.test('a fault in a take is reported, wherever it happens', async (t) => {
  const failures: unknown[] = []
  const { request } = createQuotaRequests({
    store: { takeQuota: async () => ({ granted: 1, grantedToAll: 1 }) },
    clock: () => 0,
    monotonic: () => 0,
    processes: () => {
      throw new TypeError('no such property')
    },
    onStoreFailure: (error) => failures.push(error),
  })
  const reservation = new Reservation('ada', 'day', quotaWindow('day', 0))
  t.equal(await request(reservation, { needed: 1, ahead: 0, kept: 0 }), undefined)
  t.match(failures, [{ message: 'no such property' }])
})
