import t from 'tap'
import type { GatedArrival } from '#gateway/arrival/arrival.ts'
import { recordSent } from '#gateway/arrival/outcome.ts'
import { createGrpcCallFollower } from '#gateway/server/open-grpc-calls.ts'
import { monotonicClock } from '#platform/time.ts'
import { postBlock } from '../../http/h2/flow.ts'
import { endHeaders, frame, openRawSession } from '../../http/h2/frames.ts'
import { until } from '../../setup/net.ts'
import { startOwnServer } from '../support/own-server.ts'

t.test('a call of gRPC is followed once it is sent, however long it has waited', async (t) => {
  const { url, openArrivals } = await startOwnServer(t, () => {})
  let looks = 0
  const followed: GatedArrival[] = []
  const onGrpcCall = createGrpcCallFollower({
    followStream: (arrival) => {
      followed.push(arrival)
      return () => {}
    },
    openArrivals: () => {
      looks++
      return openArrivals()
    },
  })
  const { socket } = await openRawSession(t, url)
  socket.write(frame('headers', endHeaders, 1, postBlock('/x', [['content-type', 'application/grpc']])))
  const arrival = await until('it has arrived', () => [...openArrivals()][0])
  onGrpcCall(arrival.outcome)
  await until('it was looked for again and again', () => looks > 3)
  t.strictSame(followed, [])
  recordSent(arrival.outcome, monotonicClock())
  await until('it is followed', () => followed.length > 0)
  t.equal(followed[0], arrival)
})
