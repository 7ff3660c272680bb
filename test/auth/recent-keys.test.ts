import { mock } from 'node:test'
import t from 'tap'
import { createRecentKeys } from '../../src/auth/recent-keys.ts'
import type { Authentication } from '../../src/auth/scheme.ts'
import { createAccountId, createKey } from '../../src/secrets/keys.ts'

const letIn: Authentication = {
  kind: 'authenticated',
  principal: {
    accountId: 'a',
    role: 'User',
    scheme: 'secretKey',
    sessionId: undefined,
    key: 'default',
    scopes: [],
    addresses: [],
    plan: undefined,
    issuer: undefined,
    profile: undefined,
  },
  holdsUntil: Number.POSITIVE_INFINITY,
}

function start() {
  const state = { version: {} as object | undefined, hits: 0, now: 1_000 }
  const directory = { version: () => state.version, countHit: () => void state.hits++ }
  return { state, recent: createRecentKeys(directory, () => state.now) }
}

t.test('a recent key is recognised, and each use counts as a look-up', async (t) => {
  const { state, recent } = start()
  const key = createKey('secretKey', createAccountId())
  t.equal(recent.get(key), undefined)
  recent.set(key, letIn)
  t.equal(recent.get(key), letIn)
  t.equal(state.hits, 1)
  for (let index = 0; index < key.length; index++) {
    const other = key[index] === 'x' ? 'y' : 'x'
    t.equal(recent.get(key.slice(0, index) + other + key.slice(index + 1)), undefined, `character ${index}`)
  }
  for (const text of ['', key.slice(1), `${key}x`, `x${key}`]) t.equal(recent.get(text), undefined)
  t.equal(state.hits, 1)
})

t.test('recent keys are forgotten at any change, and at the loss of the store', async (t) => {
  const { state, recent } = start()
  const key = createKey('secretKey', createAccountId())
  recent.set(key, letIn)
  const later = {}
  state.version = later
  t.equal(recent.get(key), undefined)
  recent.set(key, letIn)
  state.version = undefined
  t.equal(recent.get(key), undefined)
  recent.set(key, letIn)
  state.version = later
  t.equal(recent.get(key), letIn, 'what was decided meanwhile is not kept')
})

t.test('a recent key is recognised until it ends', async (t) => {
  const { state, recent } = start()
  const key = createKey('secretKey', createAccountId())
  recent.set(key, { ...letIn, holdsUntil: 1_001 })
  t.match(recent.get(key), { kind: 'authenticated' })
  state.now = 1_001
  t.equal(recent.get(key), undefined)
})

t.test('keys of one account are remembered beside each other', async (t) => {
  const { recent } = start()
  const account = createAccountId()
  const keys = Array.from({ length: 20 }, () => createKey('secretKey', account))
  for (const key of keys) recent.set(key, letIn)
  for (const key of keys) t.equal(recent.get(key), letIn)
})

t.test('a recent key is remembered for a second at most', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const { recent } = start()
  const keys = Array.from({ length: 3 }, () => createKey('secretKey', createAccountId()))
  for (const key of keys) recent.set(key, letIn)
  mock.timers.tick(999)
  for (const key of keys) t.equal(recent.get(key), letIn)
  mock.timers.tick(1)
  for (const key of keys) t.equal(recent.get(key), undefined)
})

t.test('recent keys are remembered, ten thousand at most', async (t) => {
  const { recent } = start()
  const keys = Array.from({ length: 10_001 }, () => createKey('secretKey', createAccountId()))
  for (const key of keys) recent.set(key, letIn)
  t.equal(recent.get(keys[9_999] ?? ''), letIn)
  t.equal(recent.get(keys[10_000] ?? ''), undefined)
})
