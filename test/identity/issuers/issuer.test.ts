import t from 'tap'
import { findMissingClaim } from '#identity/issuers/issuer.ts'

/** Whether a claim with this value passes where one of the others is required. */
const passes = (claim: unknown, ...values: readonly string[]) =>
  findMissingClaim({ claim }, [['claim', values]]) === undefined

t.test('each required claim must be there with one of its values', async (t) => {
  const required = [
    ['a', ['1', '2']],
    ['b', ['x']],
  ] as const
  t.equal(findMissingClaim({ a: '2', b: 'x', c: 'y' }, required), undefined)
  t.equal(findMissingClaim({ a: '3', b: 'x' }, required), 'a')
  t.equal(findMissingClaim({ a: '1' }, required), 'b')
  t.equal(findMissingClaim({}, []), undefined)
  t.equal(findMissingClaim({}, [['toString', ['*']]]), 'toString', 'its own members only')
})

t.test('texts are compared exactly, others as they are written, lists by any of their members', async (t) => {
  t.ok(passes('acme', 'acme'))
  for (const other of ['Acme', 'acme ', ' acme', 'acm', 'acme2', '']) t.notOk(passes(other, 'acme'), other)
  t.ok(passes(true, 'true'))
  t.notOk(passes(false, 'true'))
  t.ok(passes(12, '12'))
  t.notOk(passes(12, '1'))
  t.ok(passes(['x', 'acme'], 'acme'))
  t.notOk(passes([['acme']], 'acme'))
  t.notOk(passes({ acme: true }, 'acme'))
  t.notOk(passes({ toString: () => 'acme' }, '*'))
  for (const none of [null, undefined, [], [null], {}]) t.notOk(passes(none, '*', 'null', 'undefined'))
})

t.test('an asterisk stands for any text, and for nothing else', async (t) => {
  t.ok(passes('acme/shop', 'acme/*'))
  t.ok(passes('acme/', 'acme/*'))
  t.ok(passes('acme/a/b', 'acme/*'))
  t.notOk(passes('acme', 'acme/*'))
  t.notOk(passes('evil/acme/shop', 'acme/*'))
  t.ok(passes('repo:acme/shop:ref:refs/heads/main', 'repo:acme/*:ref:refs/heads/main'))
  t.notOk(passes('repo:acme/shop:ref:refs/heads/main2', 'repo:acme/*:ref:refs/heads/main'))
  t.ok(passes('aXbXc', 'a*b*c'))
  t.notOk(passes('acb', 'a*b*c'))
  t.notOk(passes('ab', 'ab*b'), 'no character counts twice')
  t.ok(passes('abab', '*ab'))
  t.ok(passes('', '*'))
  for (const other of ['a.c', 'a?c', 'a[b]c', 'a\\*c']) t.notOk(passes('abc', other), 'no other pattern')
})

t.test('what a token says cannot make the comparison slow', async (t) => {
  const start = performance.now()
  t.notOk(passes('a'.repeat(100_000), `${'a*'.repeat(20)}b`))
  t.notOk(passes('ab'.repeat(50_000), `*${'aba*'.repeat(20)}c`))
  t.ok(performance.now() - start < 100)
})
