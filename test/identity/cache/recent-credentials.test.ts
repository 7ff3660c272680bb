import t from 'tap'
import { RecentCredentials } from '#identity/cache/recent-credentials.ts'
import { type Credential, type Credentials, withAuthorization, withSecretKey } from '#identity/credentials.ts'
import { usualCarriers } from '../../setup/carriers.ts'

/** Of ten characters. */
const bearer = (character: string) => credential(`Bearer a.b.${character.repeat(6)}`)

function credential(authorization: string): Credential {
  return read(withAuthorization({ kind: 'none' }, authorization, usualCarriers))
}

function read(credentials: Credentials): Credential {
  if (credentials.kind === 'bearer' || credentials.kind === 'secretKey') return credentials
  throw new Error('no credential')
}

function find(recent: RecentCredentials<Credential>, text: string): Credential | undefined {
  return recent.find(`x${text}y`, 1, 1 + text.length)
}

t.test('a kept credential is found by its text, with what it has', async (t) => {
  const recent = new RecentCredentials<Credential>({ credentialsMax: 10, charactersMax: 100 })
  const kept = { ...bearer('a'), recentEnd: 7 }
  recent.keep(kept)
  t.strictSame(find(recent, kept.text), kept)
  t.equal(find(recent, bearer('b').text), undefined)
  t.equal(find(recent, kept.text.slice(1)), undefined)
})

t.test('a credential that is kept again takes no more room', async (t) => {
  const recent = new RecentCredentials<Credential>({ credentialsMax: 10, charactersMax: 20 })
  const one = bearer('a')
  recent.keep(one)
  const found = find(recent, one.text)
  if (found === undefined) throw new Error('it is not kept')
  for (let times = 0; times < 5; times++) recent.keep(found)
  t.equal(find(recent, one.text), found, 'as the same object')
  recent.keep(bearer('b'))
  t.ok(find(recent, bearer('b').text), 'beside another')
  recent.keep(bearer('c'))
  t.equal(find(recent, bearer('c').text), undefined, 'until there is no more room')
})

t.test('a credential that replaces another takes the room of both only once', async (t) => {
  const recent = new RecentCredentials<Credential>({ credentialsMax: 10, charactersMax: 30 })
  const one = bearer('a')
  recent.keep(one)
  recent.keep(read(withSecretKey({ kind: 'none' }, one.text, 'SecretKey')))
  t.equal(find(recent, one.text)?.kind, 'secretKey', 'the later one is kept')
  recent.keep(bearer('b'))
  recent.keep(bearer('c'))
  t.ok(find(recent, bearer('b').text))
  t.ok(find(recent, bearer('c').text))
})

t.test('only so many are kept', async (t) => {
  const recent = new RecentCredentials<Credential>({ credentialsMax: 2, charactersMax: 100 })
  for (const character of ['a', 'b', 'c']) recent.keep(bearer(character))
  t.strictSame(
    ['a', 'b', 'c'].filter((character) => find(recent, bearer(character).text)),
    ['a', 'b'],
  )
})
