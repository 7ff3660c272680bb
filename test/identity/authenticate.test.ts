import t from 'tap'
import type { AuthOption } from '#gateway/routes/compile.ts'
import { createKey } from '#platform/secrets/keys.ts'
import { visitor } from '../store/samples.ts'
import { openBench, type Shown, wordOf } from './auth-harness.ts'

const bench = await openBench(t)
const { accounts, keys, sessions, newCaller, decide, accessTokens } = bench

const ada = await newCaller()
const bob = await newCaller()
const disabled = await newCaller()
await accounts.update(disabled.id, { isDisabled: true })
const deleted = await newCaller()
await accounts.remove(deleted.id)
const reset = await newCaller()
await keys.resetSecretKey(reset.id, 0)
const graced = await newCaller()
await keys.resetSecretKey(graced.id, 60)
const promoted = await newCaller()
await accounts.update(promoted.id, { role: 'Admin' })
const restored = await newCaller()
await accounts.update(restored.id, { role: 'Admin' })
const demoted = await sessions.refresh(restored.refreshToken, visitor)
await accounts.update(restored.id, { role: 'User' })
const refreshed = await sessions.refresh(demoted.refreshToken, visitor)
const signedOut = await newCaller()
await sessions.revoke(signedOut.refreshToken)

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const borrowed = accessTokens.issue({
  accountId: ada.id,
  sessionId: bob.refreshToken.split('_')[1] ?? '',
  role: 'User',
  roleEpoch: 1,
})
const borrowedFromPortal = await bench.newPortalToken(bob.account, ada)
const orphan = accessTokens.issue({
  accountId: ada.id,
  sessionId: 'x'.repeat(20),
  role: 'User',
  roleEpoch: 1,
})

const auths: readonly AuthOption[] = ['secretKey', 'bearer', 'any', 'optional', 'none']

/** What a credential leads to on a route of each kind; one word where it is the same on all but `none`. */
type Row = readonly [
  name: string,
  credentials: Shown,
  words: string | readonly [string, string, string, string],
]

const onKeys = (word: string) => [word, 'scheme-not-accepted', word, word] as const
const onTokens = (word: string) => ['scheme-not-accepted', word, word, word] as const
const foreign = ['scheme-not-accepted', 'scheme-not-accepted', 'scheme-not-accepted', 'anonymous'] as const

const table: readonly Row[] = [
  ['no credential', {}, ['credentials-missing', 'credentials-missing', 'credentials-missing', 'anonymous']],
  ['a secret key', { secretKey: ada.secretKey }, onKeys('secretKey')],
  ['a reset secret key in its grace', { secretKey: graced.secretKey }, onKeys('secretKey')],
  ['a reset secret key', { secretKey: reset.secretKey }, onKeys('secret-key-invalid')],
  ['a secret key never issued', { secretKey: createKey('secretKey', ada.id) }, onKeys('secret-key-invalid')],
  [
    'a secret key of an unknown account',
    { secretKey: createKey('secretKey', 'x'.repeat(16)) },
    onKeys('secret-key-invalid'),
  ],
  ['a secret key of a deleted account', { secretKey: deleted.secretKey }, onKeys('secret-key-invalid')],
  ['a secret key of a disabled account', { secretKey: disabled.secretKey }, onKeys('account-disabled')],
  [
    'a wrong secret key of a disabled account',
    { secretKey: createKey('secretKey', disabled.id) },
    onKeys('secret-key-invalid'),
  ],
  ['an API key for a secret key', { secretKey: ada.apiKey }, onKeys('secret-key-invalid')],
  ['a token for a secret key', { secretKey: ada.accessToken }, onKeys('secret-key-invalid')],
  ['an empty secret key', { secretKey: '' }, onKeys('secret-key-invalid')],
  [
    'two secret keys in one',
    { secretKey: `${ada.secretKey}, ${ada.secretKey}` },
    onKeys('secret-key-invalid'),
  ],
  ['a token', bearer(ada.accessToken), onTokens('bearer')],
  ['a token, in any case and space', { authorization: `bEARER   ${ada.accessToken} ` }, onTokens('bearer')],
  ['a token of a revoked session', bearer(signedOut.accessToken), onTokens('token-revoked')],
  ['a token of a reset secret key', bearer(reset.accessToken), onTokens('token-revoked')],
  ['a token of a secret key in its grace', bearer(graced.accessToken), onTokens('bearer')],
  ['a token of a role that has changed', bearer(promoted.accessToken), onTokens('token-revoked')],
  [
    'a token of a role that has changed and changed back',
    bearer(restored.accessToken),
    onTokens('token-revoked'),
  ],
  ['a token of the role between two changes', bearer(demoted.accessToken), onTokens('token-revoked')],
  ['a token refreshed after two changes of role', bearer(refreshed.accessToken), onTokens('bearer')],
  ['a token of a disabled account', bearer(disabled.accessToken), onTokens('token-revoked')],
  ['a token of a deleted account', bearer(deleted.accessToken), onTokens('token-revoked')],
  ["a token with another account's session", bearer(borrowed), onTokens('token-revoked')],
  [
    'a token with the session of another in the portal',
    bearer(borrowedFromPortal),
    onTokens('token-revoked'),
  ],
  ['a token of an unknown session', bearer(orphan), onTokens('token-revoked')],
  ['a refresh token', bearer(ada.refreshToken), onTokens('token-invalid')],
  ['a secret key for a token', bearer(ada.secretKey), onTokens('token-invalid')],
  ['two tokens', bearer(`${ada.accessToken} ${ada.accessToken}`), onTokens('token-invalid')],
  ['two tokens in a list', bearer(`${ada.accessToken},${ada.accessToken}`), onTokens('token-invalid')],
  ['Bearer without a token', { authorization: 'Bearer' }, onTokens('token-invalid')],
  ['a token behind a tab', { authorization: `Bearer\t${ada.accessToken}` }, onTokens('token-invalid')],
  ['a token behind a comma', { authorization: `Bearer,${ada.accessToken}` }, onTokens('token-invalid')],
  ['an empty token', { authorization: 'Bearer ' }, onTokens('token-invalid')],
  ['a password', { authorization: `Basic ${btoa('ada:secret')}` }, foreign],
  ['a token of another scheme', { authorization: `Token ${ada.accessToken}` }, foreign],
  [
    'a token that is not bound to a key, as if it were',
    { authorization: `DPoP ${ada.accessToken}` },
    onTokens('token-invalid'),
  ],
  ['DPoP without a token', { authorization: 'DPoP' }, onTokens('token-invalid')],
  ['a token run into DPoP', { authorization: `DPoP${ada.accessToken}` }, foreign],
  ['a key and DPoP', { secretKey: ada.secretKey, authorization: 'DPoP x' }, 'credentials-ambiguous'],
  ['a bare token', { authorization: ada.accessToken }, foreign],
  ['a token run into its scheme', { authorization: `Bearer${ada.accessToken}` }, foreign],
  ['an empty Authorization', { authorization: '' }, foreign],
  ['a key and a token', { secretKey: ada.secretKey, ...bearer(ada.accessToken) }, 'credentials-ambiguous'],
  [
    'a key and a token of two callers',
    { secretKey: ada.secretKey, ...bearer(bob.accessToken) },
    'credentials-ambiguous',
  ],
  ['an empty key and a token', { secretKey: '', ...bearer(ada.accessToken) }, 'credentials-ambiguous'],
  ['a key and a password', { secretKey: ada.secretKey, authorization: 'Basic x' }, onKeys('secretKey')],
  ['two keys', { secretKey: ada.secretKey, isRepeated: true }, 'credentials-ambiguous'],
  ['two Authorizations', { ...bearer(ada.accessToken), isRepeated: true }, 'credentials-ambiguous'],
]

for (const [name, credentials, words] of table) {
  t.test(`a credential has its documented result on each kind of route: ${name}`, async (t) => {
    const expected = typeof words === 'string' ? [words, words, words, words] : words
    const actual = await Promise.all(auths.map(async (auth) => wordOf(await decide(auth, credentials))))
    t.strictSame(actual, [...expected, 'anonymous'])
  })
}

t.test('a decision names the scheme that was tried, for the challenge', async (t) => {
  t.match(await decide('any', { secretKey: '' }), { kind: 'refused', scheme: 'secretKey' })
  t.match(await decide('secretKey', bearer('x')), { kind: 'refused', scheme: 'bearer' })
  t.match(await decide('any', {}), { kind: 'refused', scheme: undefined })
  t.match(await decide('any', { secretKey: ada.secretKey }), { kind: 'allowed', scheme: 'secretKey' })
})

t.test('an expired token is reported as expired, even if its session has ended', async (t) => {
  bench.time.nowMs += 600_000
  for (const { accessToken } of [ada, signedOut, disabled, deleted]) {
    t.equal(wordOf(await decide('any', bearer(accessToken))), 'token-expired')
  }
  t.equal(
    wordOf(await decide('any', { secretKey: graced.secretKey })),
    'secret-key-invalid',
    'the grace is over',
  )
})
