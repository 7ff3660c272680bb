import t from 'tap'
import { StallDeadline } from '#http/outgoing/stall-deadline.ts'

const options = {
  method: 'POST',
  isUpgrade: false,
  body: 'counted',
  isLast: false,
  bindsConnection: false,
  expectsContinue: false,
  responseTimeoutMs: 1_000,
  idleTimeoutMs: 10_000,
} as const

t.test('a target has its time to answer also where reading was paused when the request ended', async (t) => {
  const expired: string[] = []
  const deadline = new StallDeadline(() => expired.push(deadline.failure(true).reason))
  deadline.start(options, performance.now())
  deadline.pause()
  deadline.onRequestEnd()
  t.equal(deadline.deadline, Number.POSITIVE_INFINITY)
  deadline.resume()
  const { deadline: set } = deadline
  t.ok(set <= performance.now() + options.responseTimeoutMs)
  deadline.postpone(performance.now() + 500)
  t.equal(deadline.deadline, set, 'nothing but the head extends it')
  deadline.expire()
  t.strictSame(expired, ['response-timeout'])
})

t.test('once the head has come it is the idle timeout, from what came last', async (t) => {
  const deadline = new StallDeadline(() => {})
  deadline.start({ ...options, body: 'none' }, 0)
  t.equal(deadline.deadline, 1_000)
  deadline.onHead()
  deadline.postpone(100)
  t.equal(deadline.deadline, 10_100)
  deadline.stop()
  deadline.postpone(200)
  t.equal(deadline.deadline, Number.POSITIVE_INFINITY)
})
