import t, { type Test } from 'tap'
import { until } from '../../setup/net.ts'
import { startFrameBackend } from '../h2/frame-backend.ts'
import { endHeaders, frame, frameTypes } from '../h2/frames.ts'
import { startHeadBackend } from './backends.ts'
import { exchange, openTestUpstream } from './exchange.ts'

const expecting = {
  method: 'PUT',
  body: 'counted',
  lines: 'Expect: 100-continue\r\nContent-Length: 9\r\n',
  expectsContinue: true,
} as const
const long = 20_000

/** A target that answers a head with this status alone, or with nothing; by version of HTTP. */
const protocols = {
  http1: async (t: Test, status?: 100 | 103) => {
    const { url } = await startHeadBackend(t, ({ socket }) => {
      if (status !== undefined) socket.write(`HTTP/1.1 ${status} Information\r\n\r\n`)
    })
    return url
  },
  http2: async (t: Test, status?: 100 | 103) => {
    // A literal with the name `:status` (RFC 7541 6.2.2, A).
    const block = Buffer.from(`\x08\x03${status}`)
    const { url } = await startFrameBackend(t, {
      onFrame: ({ socket }, { type, streamId }) => {
        if (type === frameTypes.headers && status !== undefined)
          socket.write(frame('headers', endHeaders, streamId, block))
      },
    })
    return url
  },
}

for (const [protocol, startTarget] of Object.entries(protocols)) {
  // The cast is sound: these are the keys.
  const version = { protocol: protocol as keyof typeof protocols }

  t.test(`a client that waits for a 100 is not blamed for a silent target, ${protocol}`, async (t) => {
    const terms = { ...version, responseTimeoutMs: 100, idleTimeoutMs: long }
    for (const status of [undefined, 103] as const) {
      const upstream = openTestUpstream(t, await startTarget(t, status), terms)
      t.equal((await exchange(upstream, expecting).failure).reason, 'response-timeout', `${status}`)
    }
  })

  t.test(`a target that fails to answer an expectation is ejected, ${protocol}`, async (t) => {
    const passive = { maxFailures: 2, windowMs: 10_000, ejectForMs: 60_000 }
    const upstream = openTestUpstream(t, await startTarget(t), {
      ...version,
      health: { active: undefined, passive },
      responseTimeoutMs: 100,
      idleTimeoutMs: long,
    })
    // A failure of one client alone ejects nothing.
    for (let turn = 0; turn < 2; turn++) await exchange(upstream, expecting).failure
    t.strictSame(exchange(upstream, expecting).events, ['no-target'])
  })

  t.test(`a client that was told to continue, and does not, has stalled, ${protocol}`, async (t) => {
    const terms = { ...version, responseTimeoutMs: long, idleTimeoutMs: 100 }
    const upstream = openTestUpstream(t, await startTarget(t, 100), terms)
    const { failure, events } = exchange(upstream, expecting)
    t.equal((await failure).reason, 'body-stalled')
    t.strictSame(events, ['sent', '100', 'body-stalled'])
  })

  t.test(`a client that does not wait for the 100 may stall, ${protocol}`, async (t) => {
    const terms = { ...version, responseTimeoutMs: long, idleTimeoutMs: 100 }
    const { call, sent, failure } = exchange(openTestUpstream(t, await startTarget(t), terms), expecting)
    await sent
    call.write(Buffer.from('part'))
    t.equal((await failure).reason, 'body-stalled')
  })

  t.test(`the target has all of its time once the body has followed a 100, ${protocol}`, async (t) => {
    const terms = { ...version, responseTimeoutMs: 100, idleTimeoutMs: long }
    const { call, failure, events } = exchange(
      openTestUpstream(t, await startTarget(t, 100), terms),
      expecting,
    )
    await until('it is told to continue', () => events.includes('100') || undefined)
    call.write(Buffer.from('all of it'))
    const start = performance.now()
    call.finish('')
    t.equal((await failure).reason, 'response-timeout')
    t.ok(performance.now() - start > 95)
  })
}
