import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import type { RawResponse } from '../setup/raw-client.ts'
import { redisCommand, startRedis } from '../setup/redis.ts'
import { askJson, refreshTokenPath } from './support/ask.ts'
import { readMetrics } from './support/metrics.ts'
import { assertProblem, codeOf } from './support/problem.ts'

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

  async function session() {
    const [found] = await gateway.operate(({ sessions }) => sessions.list(account.account.id))
    if (!found) throw new Error('there is no session')
    return found
  }

  /** Once a rotation has been made, answered or not. */
  function untilRotated(): Promise<true> {
    return until('the session has been rotated', async () => (await session()).generation > 1 || undefined)
  }

  function untilAcknowledged(): Promise<true> {
    const isKnown = async () => (await session()).acknowledgedAt !== undefined || undefined
    return until('it is known that the token was given out', isKnown)
  }

  /** Tries until the replica is quick enough to confirm, as a client does. */
  function untilAnswered(): Promise<RawResponse> {
    return until('it is answered', async () => {
      const response = await refresh()
      return response.status === 503 ? undefined : response
    })
  }

  /** Sends a refresh, waits until the session has been rotated, and leaves the answer to be waited for. */
  async function refreshAndWait(): Promise<Socket> {
    const socket = sendRefresh(gateway.url, RefreshToken)
    await untilRotated()
    return socket
  }

  const { id } = await session()
  /** Why the session has ended, as Redis answers it. */
  const endOf = () => redisCommand(redis.port, `HGET gh:{account}:session:${id} end`)

  const passTime = (ms: number) => {
    aheadMs += ms
  }
  return { replica, endOf, refresh, refreshAndWait, untilRotated, untilAcknowledged, untilAnswered, passTime }
}

for (const grace of ['10s', '0s']) {
  t.test(
    `a refresh that no replica confirms is 503, and its token works an hour later (${grace})`,
    async (t) => {
      const { replica, endOf, refresh, untilRotated, untilAcknowledged, untilAnswered, passTime } =
        await startReplicated(t, grace)
      replica.signal('SIGSTOP')
      assertProblem(t, await refresh(), { status: 503, code: 'store-unavailable' })
      await untilRotated()
      passTime(hourMs)
      assertProblem(t, await refresh(), { status: 503, code: 'store-unavailable' })
      replica.signal('SIGCONT')
      t.equal((await untilAnswered()).status, 200)
      await untilAcknowledged()
      passTime(hourMs)
      const last = await untilAnswered()
      // Where the replica was too slow to confirm the end of the session, it had ended when it was tried again.
      const code = codeOf(last) === 'session-revoked' ? 'session-revoked' : 'refresh-token-reused'
      assertProblem(t, last, { status: 401, code })
      t.match(await endOf(), 'reused')
    },
  )
}

t.test(
  'a client that hung up before the refresh was answered may reuse its token an hour later',
  async (t) => {
    const { replica, refreshAndWait, untilAnswered, passTime } = await startReplicated(t, '10s')
    replica.signal('SIGSTOP')
    const socket = await refreshAndWait()
    socket.resetAndDestroy()
    await once(socket, 'close')
    replica.signal('SIGCONT')
    passTime(hourMs)
    t.equal((await untilAnswered()).status, 200)
  },
)

/** A gateway on SQLite that is interrupted between a rotation and its answer. */
async function startInterrupted(t: Test, interrupt: (file: string) => void) {
  let aheadMs = 0
  let database: DatabaseSync | undefined
  const generation = () => Number(database?.prepare('SELECT generation FROM sessions').get()?.generation)
  const gateway = await startGateway(t, {
    // It is asked between the two, and nothing is read from the connection in between.
    clock: () => {
      if (database && generation() === 2) interrupt(file)
      return Date.now() + aheadMs
    },
  })
  const file = join(dirname(gateway.configFile), 'gatehouse.db')
  const { RefreshToken: token } = await gateway.tokens(await gateway.createAccount())
  database = new DatabaseSync(file, { readOnly: true })
  t.teardown(() => {
    database?.close()
    // The gateway still asks for the time while it closes.
    database = undefined
  })
  const refresh = () => askJson(t, gateway.url, refreshTokenPath, { token })
  const passTime = (ms: number) => {
    aheadMs += ms
  }
  return { gateway, token, refresh, generation, passTime }
}

t.test('a refresh answered into a connection already reset counts as not delivered', async (t) => {
  let socket: Socket | undefined
  const { gateway, token, refresh, generation, passTime } = await startInterrupted(t, () => {
    socket?.resetAndDestroy()
  })
  socket = sendRefresh(gateway.url, token)
  await once(socket, 'close')
  passTime(hourMs)
  t.equal((await refresh()).status, 200)
  t.equal(generation(), 2, 'the token of the first answer was given again')
})

t.test('a gauge counts delivered refresh tokens that the store has not recorded yet', async (t) => {
  let lock: DatabaseSync | undefined
  const { gateway, refresh } = await startInterrupted(t, (file) => {
    if (lock) return
    lock = new DatabaseSync(file)
    lock.exec('BEGIN IMMEDIATE')
  })
  t.teardown(() => lock?.close())
  const pending = async () =>
    (await readMetrics(gateway.opsUrl)).value('gatehouse_refresh_acknowledgements_pending')
  t.equal(await pending(), 0)
  t.equal((await refresh()).status, 200)
  t.equal(await pending(), 1)
  lock?.exec('ROLLBACK')
  await until('the store knows', async () => (await pending()) === 0 || undefined)
  t.equal((await readMetrics(gateway.opsUrl)).value('gatehouse_refresh_acknowledgements_lost_total'), 0)
})

function sendRefresh(url: string, token: string): Socket {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const body = JSON.stringify({ token })
  const head = `POST ${refreshTokenPath} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n`
  socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`)
  return socket
}
