import t from 'tap'
import { createRecentDecisions } from '../../src/auth/recent-decisions.ts'
import type { Authentication } from '../../src/auth/scheme.ts'

const claims = {
  ...{ accountId: 'ada', sessionId: 'one', role: 'User' },
  ...{ issuedAt: 0, validFrom: 0, expiresAt: Number.POSITIVE_INFINITY },
}
const letIn: Authentication = {
  kind: 'authenticated',
  principal: { accountId: 'ada', role: 'User', scheme: 'bearer', sessionId: 'one', profile: undefined },
}

function start() {
  const state = { now: 1_000, version: 7 as number | undefined, hits: 0 }
  const directory = { version: () => state.version, countHit: () => void state.hits++ }
  return { state, recent: createRecentDecisions(directory, () => state.now) }
}

t.test('a decision holds for a second, and each time counts as a look-up', async (t) => {
  const { state, recent } = start()
  t.equal(recent.find(claims), undefined)
  recent.keep(claims, letIn)
  state.now += 999
  t.equal(recent.find(claims), letIn)
  t.equal(recent.find({ ...claims }), undefined, 'of these claims, not of some like them')
  t.equal(state.hits, 1)
  state.now += 1
  t.equal(recent.find(claims), undefined)
  t.equal(state.hits, 1)
})

t.test('any change ends it, and so does the loss of the store', async (t) => {
  const { state, recent } = start()
  recent.keep(claims, letIn)
  state.version = 8
  t.equal(recent.find(claims), undefined)
  recent.keep(claims, letIn)
  state.version = undefined
  t.equal(recent.find(claims), undefined, 'what is known ages: it is looked at each time')
  recent.keep(claims, letIn)
  state.version = 8
  t.equal(recent.find(claims), letIn, 'what was decided meanwhile is not kept')
})
