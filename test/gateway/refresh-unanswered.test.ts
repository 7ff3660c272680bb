import { once } from 'node:events'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { redisCommand, startRedis } from '../setup/redis.ts'
import { askJson, refreshTokenPath } from './support/ask.ts'
import { assertProblem } from './support/problem.ts'

const hourMs = 3_600_000

/** A gateway that waits for a replica, which can be stopped, and with a clock that can be put forward. */
async function startReplicated(t: Test, reuseGrace: string) {
  const redis = await startRedis(t)
  const follow = ['--replicaof', '127.0.0.1', String(redis.port), '--repl-diskless-sync-delay', '0']
  const replica = await startRedis(t, follow)
  await until('the replica follows', async () => {
    const info = await redisCommand(redis.port, 'INFO replication')
    return info.includes('state=online') || undefined
  })
  let aheadMs = 0
  const gateway = await startGateway(t, {
    driver: 'redis',
    redis,
    clock: () => Date.now() + aheadMs,
    config: { tokens: { reuseGrace }, store: { driver: 'redis', redis: { url: redis.url, replicas: 1 } } },
  })
  const account = await gateway.createAccount()
  const { RefreshToken } = await gateway.tokens(account)
  const refresh = () => askJson(t, gateway.url, refreshTokenPath, { token: RefreshToken })

  /** Once a rotation has been made, answered or not. */
  function untilRotated(): Promise<true> {
    return until('the session has been rotated', async () => {
      const [session] = await gateway.operate(({ sessions }) => sessions.list(account.account.id))
      return (session?.generation ?? 0) > 1 || undefined
    })
  }

  const passTime = (ms: number) => {
    aheadMs += ms
  }
  return { replica, gateway, RefreshToken, refresh, untilRotated, passTime }
}

for (const grace of ['10s', '0s']) {
  t.test(`a refresh that no replica confirms is 503, its token works an hour later (${grace})`, async (t) => {
    const { replica, refresh, untilRotated, passTime } = await startReplicated(t, grace)
    replica.signal('SIGSTOP')
    assertProblem(t, await refresh(), { status: 503, code: 'store-unavailable' })
    await untilRotated()
    passTime(hourMs)
    assertProblem(t, await refresh(), { status: 503, code: 'store-unavailable' })
    replica.signal('SIGCONT')
    await until('it is answered', async () => (await refresh()).status === 200 || undefined)
    passTime(hourMs)
    assertProblem(t, await refresh(), { status: 401, code: 'refresh-token-reused' })
  })
}

t.test('a client that hung up before the answer may use the same token an hour later', async (t) => {
  const { replica, gateway, RefreshToken, refresh, untilRotated, passTime } = await startReplicated(t, '10s')
  const { hostname, port } = new URL(gateway.url)
  replica.signal('SIGSTOP')
  const socket = connect(Number(port), hostname)
  const body = JSON.stringify({ token: RefreshToken })
  const head = `POST ${refreshTokenPath} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n`
  socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`)
  await untilRotated()
  socket.resetAndDestroy()
  await once(socket, 'close')
  replica.signal('SIGCONT')
  passTime(hourMs)
  await until('it is answered', async () => {
    const { status } = await refresh()
    t.not(status, 401)
    return status === 200 || undefined
  })
})
