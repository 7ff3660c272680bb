import t from 'tap'
import { createQuotaRequests, Reservation } from '#identity/limits/quota-reservation.ts'
import { quotaWindow } from '#store/quotas.ts'
import { newSqlitePlace } from '../../store/sqlite/place.ts'

t.test('requests that pass while a lost answer is asked for again are not forgotten', async (t) => {
  const store = await (await newSqlitePlace(t)).open()
  const nowMs = Date.UTC(2027, 11, 31)
  const granted: number[] = []
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
  })
  const reservation = new Reservation('ada', 'day', quotaWindow('day', nowMs))
  reservation.limit = 1_000
  const wanted = { needed: 0, ahead: 20, kept: 1_000 }
  await request(reservation, wanted)
  isLost = true
  t.equal(await request(reservation, wanted), undefined)
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
