import { decodeJwt } from 'jose'
import t from 'tap'
import { openRevocationStream } from '#api/revocations.ts'
import { StoreConnectionState } from '#identity/cache/store-connection.ts'
import { openRevocationFeed } from '#identity/tokens/revocation-feed.ts'
import type { LoggedChange } from '#store/changes.ts'
import { until } from '../../setup/net.ts'
import { createBench, newSigningKey } from './forged-tokens.ts'

function openFeed({ readersMax = 10, keptMs = 60_000 } = {}) {
  const { keyring } = createBench([newSigningKey('key')])
  const time = { nowMs: 1_000 }
  const storeConnection = { ...new StoreConnectionState(), isUp: true, completeSince: 0, readAt: 900 }
  const place = { position: 0 }
  const feed = openRevocationFeed({
    keyring,
    storeConnection,
    issuer: 'https://gw',
    keptMs,
    readersMax,
    position: () => place.position,
    clock: Date.now,
    monotonic: () => time.nowMs,
  })
  return { feed, time, storeConnection, place }
}

function changed(position: number, accountId = `account-${position}`): LoggedChange {
  return { change: { kind: 'account', accountId }, position, at: 1_800_000_000_000 + position }
}

function follow(feed: ReturnType<typeof openFeed>['feed']) {
  const events: Record<string, unknown>[] = []
  const ended: string[] = []
  const reader = {
    onEvent: (event: string) => events.push(decodeJwt(event)),
    onEnd: () => ended.push('ended'),
  }
  const parts = feed.follow('a-nonce', reader)
  const snapshot: Record<string, unknown>[] = []
  for (let part = parts.next(); !part.done; part = parts.next()) snapshot.push(decodeJwt(part.value))
  return { snapshot, events, ended, reader }
}

t.test('a snapshot has what was revoked before, and events are numbered on from it', async (t) => {
  const { feed, time } = openFeed()
  feed.apply(changed(7))
  feed.apply({ change: { kind: 'session', sessionId: 's' }, position: 8, at: 5 })
  const { snapshot, events } = follow(feed)
  t.match(snapshot, [
    { nonce: 'a-nonce', part: 0, last: true, seq: 0, since: 0, keptMs: 60_000, now: 1_000, asOf: 900 },
  ])
  t.strictSame(snapshot[0]?.revoked, [
    { sub: 'account-7', rev: 7, at: 1_800_000_000_007 },
    { sid: 's', at: 5 },
  ])
  feed.apply(changed(9))
  feed.apply(changed(10))
  await until('an event', () => events.length > 0)
  t.match(events, [{ seq: 1, revoked: [{ rev: 9 }, { rev: 10 }] }], 'those of one turn in one')
  feed.onRead()
  t.equal(events.length, 1, 'within 250 ms nothing more is said')
  time.nowMs += 250
  feed.onRead()
  t.match(events[1], { seq: 2, revoked: [] })
})

t.test('a gap begins anew, and assertions of before are not used again', async (t) => {
  const { feed, place } = openFeed()
  place.position = 5
  const { ended } = follow(feed)
  const stamp = feed.stamps.stamp('a')
  t.equal(stamp.position, 5)
  t.ok(feed.stamps.covers(stamp, 'a'))
  feed.apply(changed(6, 'a'))
  t.notOk(feed.stamps.covers(stamp, 'a'))
  t.ok(feed.stamps.covers(stamp, 'b'), 'that of another')
  t.equal(feed.stamps.stamp('a').position, 6, 'announced, but not read')
  feed.restart('gap')
  t.strictSame(ended, ['ended'])
  t.notOk(feed.stamps.covers(stamp, 'b'))
  t.strictSame(follow(feed).snapshot[0]?.revoked, [])
})

t.test('there are as many readers as allowed, and a place is free once one has left', async (t) => {
  const { feed } = openFeed({ readersMax: 2 })
  const first = follow(feed)
  follow(feed)
  t.throws(() => follow(feed), { code: 'rate-limited' })
  feed.leave(first.reader)
  t.doesNotThrow(() => follow(feed))
})

t.test('closing a feed ends the streams of its readers, and refuses new ones', async (t) => {
  const { feed } = openFeed()
  const { ended } = follow(feed)
  feed.close()
  t.strictSame(ended, ['ended'])
  t.throws(() => follow(feed), { code: 'shutting-down' })
  t.ok(feed.stamps.covers(feed.stamps.stamp('a'), 'a'))
})

t.test('nobody follows before the change log was read', async (t) => {
  const { feed, storeConnection } = openFeed()
  storeConnection.completeSince = Number.POSITIVE_INFINITY
  t.throws(() => follow(feed), { code: 'store-unavailable' })
})

t.test('of 250,000 revocations the last 100,000 are kept, and it is said since when', async (t) => {
  const { feed } = openFeed()
  for (let position = 1; position <= 250_000; position++) feed.apply(changed(position))
  const { snapshot } = follow(feed)
  t.equal(snapshot.length, 200)
  const kept = snapshot.flatMap(({ revoked }) => revoked as readonly { readonly rev: number }[])
  t.equal(kept.length, 100_000)
  t.equal(kept[0]?.rev, 150_001)
  t.equal(snapshot[0]?.since, 1_800_000_150_000)
  t.strictSame(
    snapshot.map(({ last }) => last),
    [...Array<boolean>(199).fill(false), true],
  )
})

t.test('a reader who leaves more than a mebibyte unread is cut off, and holds up nobody', async (t) => {
  const { feed } = openFeed()
  const { stream } = openRevocationStream(feed, 'slow')
  const quick = follow(feed)
  let position = 0
  await until('it is cut off', async () => {
    for (let count = 0; count < 1_000; count++) feed.apply(changed(++position))
    await new Promise(setImmediate)
    return stream.destroyed
  })
  t.ok(position > 5_000)
  await until('the other has everything', () => {
    const heard = quick.events.flatMap(({ revoked }) => revoked as readonly unknown[])
    return heard.length === position
  })
})
