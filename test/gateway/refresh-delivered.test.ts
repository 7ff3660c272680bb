import t, { type Test } from 'tap'
import { ask as askHttp2, connectHttp2 } from '../http/h2/ask.ts'
import { initialWindowSize, postBlock, roundTrip, widen } from '../http/h2/flow.ts'
import { endHeaders, endStream, frame, frameTypes, openRawSession, uint32 } from '../http/h2/frames.ts'
import { startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { askJson, refreshTokenPath } from './support/ask.ts'
import { codeOf } from './support/problem.ts'

/** A refresh token that was delivered ends the one before after the grace; one that was not leaves it valid. */

const hourMs = 3_600_000
const oauthPath = '/api/v1/oauth/token'

async function start(t: Test) {
  let aheadMs = 0
  const gateway = await startGateway(t, { clock: () => Date.now() + aheadMs })
  const account = await gateway.createAccount()
  const { RefreshToken: token } = await gateway.tokens(account)
  const [session] = await gateway.operate(({ sessions }) => sessions.list(account.account.id))
  const http2 = await connectHttp2(t, gateway.url)
  const untilAcknowledged = () =>
    until('it is known that the token was given out', async () => {
      const [found] = await gateway.operate(({ sessions }) => sessions.list(account.account.id))
      return found?.acknowledgedAt !== undefined || undefined
    })
  const passTime = (ms: number) => {
    aheadMs += ms
  }
  return { gateway, token, session, http2, untilAcknowledged, passTime }
}

type Started = Awaited<ReturnType<typeof start>>

const json = { 'content-type': 'application/json' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }

function refreshBy({ http2, token }: Started, path: string) {
  const [headers, body] =
    path === oauthPath
      ? [form, new URLSearchParams({ grant_type: 'refresh_token', refresh_token: token }).toString()]
      : [json, JSON.stringify({ token })]
  return askHttp2(http2, path, { headers: { ':method': 'POST', ...headers }, body })
}

/** A refresh over HTTP/2 by a client that does not yet take the body of the response. */
async function refreshUnread(t: Test, { gateway, token }: Started) {
  const raw = await openRawSession(t, gateway.url, [[initialWindowSize, 0]])
  const body = Buffer.from(JSON.stringify({ token }))
  const fields = [
    ['content-type', 'application/json'],
    ['content-length', String(body.length)],
  ] as const
  raw.socket.write(frame('headers', endHeaders, 1, postBlock(refreshTokenPath, fields)))
  raw.socket.write(frame('data', endStream, 1, body))
  await until('the head of the response has come', () =>
    raw.frames.some(({ type, streamId }) => type === frameTypes.headers && streamId === 1),
  )
  return raw
}

t.test('over HTTP/1.1 the replaced token of a delivered one is reused after the grace', async (t) => {
  const { gateway, token, untilAcknowledged, passTime } = await start(t)
  const refresh = () => askJson(t, gateway.url, refreshTokenPath, { token })
  t.equal((await refresh()).status, 200)
  await untilAcknowledged()
  passTime(hourMs)
  const again = await refresh()
  t.strictSame([again.status, codeOf(again)], [401, 'refresh-token-reused'])
})

for (const path of [refreshTokenPath, oauthPath]) {
  t.test(
    `over HTTP/2 the replaced token of a delivered one is reused after the grace: ${path}`,
    async (t) => {
      const started = await start(t)
      t.equal((await refreshBy(started, path)).status, 200)
      await started.untilAcknowledged()
      started.passTime(hourMs)
      const again = await refreshBy(started, refreshTokenPath)
      t.equal(again.status, 401)
      t.match(again.body, 'refresh-token-reused')
    },
  )
}

t.test('a response of HTTP/2 that waits for its window is delivered once it has been sent', async (t) => {
  const started = await start(t)
  const raw = await refreshUnread(t, started)
  widen(raw, 1, 65_535)
  await started.untilAcknowledged()
  started.passTime(hourMs)
  t.equal((await refreshBy(started, refreshTokenPath)).status, 401)
})

t.test('a response of HTTP/2 whose stream is reset before its end is not delivered', async (t) => {
  const started = await start(t)
  const raw = await refreshUnread(t, started)
  raw.socket.write(frame('resetStream', 0, 1, uint32(8)))
  await roundTrip(raw)
  started.passTime(hourMs)
  t.equal((await refreshBy(started, refreshTokenPath)).status, 200)
})

t.test('a response of HTTP/2 whose connection is reset before its end is not delivered', async (t) => {
  const started = await start(t)
  const raw = await refreshUnread(t, started)
  raw.socket.resetAndDestroy()
  started.passTime(hourMs)
  await until('the token works', async () => {
    const { status } = await refreshBy(started, refreshTokenPath)
    return status === 200 || undefined
  })
})
