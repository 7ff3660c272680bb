import t, { type Test } from 'tap'
import { openKeySetFetches, refetchGapMs } from '#identity/issuers/issuer-fetches.ts'
import { newIssuerKey, startIssuer } from './issuer-server.ts'

const key = await newIssuerKey('one')

async function open(t: Test) {
  const issuer = await startIssuer(t, [key])
  const time = { nowMs: 100_000 }
  const { fetch, close } = openKeySetFetches(() => time.nowMs)
  t.teardown(close)
  const location = { issuer: issuer.url, url: `${issuer.url}/jwks` }
  return { issuer, time, location, fetch, close }
}

t.test('workers that ask for unknown keys share one fetch a cooldown', async (t) => {
  const { issuer, time, location, fetch } = await open(t)
  const [first, second] = await Promise.all([fetch(location, 'unknown-key'), fetch(location, 'unknown-key')])
  t.strictSame([first.isShared, second.isShared, issuer.seen.length], [false, true, 1])
  t.strictSame(first.outcome, { url: location.url, document: { keys: [key.jwk] } })
  t.strictSame(second.outcome, first.outcome)
  time.nowMs += 3_000
  const later = await fetch(location, 'unknown-key')
  t.match(later, { isShared: true, ageMs: 3_000, pauseMs: refetchGapMs - 3_000 })
  time.nowMs += refetchGapMs - 3_000
  t.match(await fetch(location, 'unknown-key'), { isShared: false, ageMs: 0, pauseMs: refetchGapMs })
  t.equal(issuer.seen.length, 2)
})

t.test('a refresh does not keep a new key from being fetched, and is not kept by a cooldown', async (t) => {
  const { issuer, time, location, fetch } = await open(t)
  t.match(await fetch(location, 'refresh'), { isShared: false, pauseMs: 0 })
  t.match(await fetch(location, 'refresh'), { isShared: true })
  t.match(await fetch(location, 'unknown-key'), { isShared: false, pauseMs: refetchGapMs })
  time.nowMs += 500
  t.match(await fetch(location, 'refresh'), { isShared: false, pauseMs: refetchGapMs - 500 })
  t.match(await fetch(location, 'unknown-key'), { isShared: true, ageMs: 0 }, 'the latest that was fetched')
  t.equal(issuer.seen.length, 3)
})

t.test('failures are shared like keys, and say why', async (t) => {
  const { issuer, location, fetch } = await open(t)
  issuer.state.answer = (_, response) => response.writeHead(500).end()
  const failed = await fetch(location, 'unknown-key')
  t.match(failed.outcome, { failure: /status 500$/ })
  issuer.state.answer = undefined
  t.match(await fetch(location, 'unknown-key'), { isShared: true, outcome: failed.outcome })
  t.match((await fetch({ issuer: issuer.url }, 'unknown-key')).outcome, { document: {} }, 'by discovery')
})

t.test('what is under way is aborted when it closes', async (t) => {
  const { issuer, location, fetch, close } = await open(t)
  issuer.state.answer = () => close()
  t.match((await fetch(location, 'refresh')).outcome, { failure: /aborted/ })
})
