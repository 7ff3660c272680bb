import t from 'tap'
import { createRefreshTokens, createSessionId } from '#identity/tokens/refresh-token.ts'
import { hideSecrets, secretPlaceholder, secretStartPattern } from '#platform/secrets/hide-secrets.ts'
import { createAccountId, createKey } from '#platform/secrets/keys.ts'
import { createLinkToken, createPortalToken } from '#platform/secrets/portal-tokens.ts'
import { createOldKey } from '../../setup/old-keys.ts'

const id = createAccountId()
const secrets = {
  'a secret key': createKey('secretKey', id),
  'an API key': createKey('apiKey', id),
  'a secret key of the old form': createOldKey('secretKey', id),
  'an API key of the old form': createOldKey('apiKey', id),
  'a refresh token': createRefreshTokens(Buffer.alloc(32)).create(createSessionId(), 1),
  'a set-up link': createLinkToken('setup', id).token,
  'a verification link': createLinkToken('email', id).token,
  'a portal session': createPortalToken(id).token,
}

for (const [kind, secret] of Object.entries(secrets)) {
  t.test(`log redaction hides ${kind} anywhere, in upper case too`, async (t) => {
    t.match(secret, secretStartPattern)
    t.equal(hideSecrets(`/files/${secret}/x`), `/files/${secretPlaceholder}/x`)
    t.equal(hideSecrets(`/files/${secret.replace('_', '%5f')}`), `/files/${secretPlaceholder}`)
    for (const spelling of [secret.toUpperCase(), secret.toLowerCase()]) {
      t.match(spelling, secretStartPattern)
      t.equal(hideSecrets(`/files/${spelling}/x`), `/files/${secretPlaceholder}/x`, spelling)
    }
  })
}

t.test('log redaction leaves text that only begins like a secret', async (t) => {
  for (const path of [
    '/gps_tracks/7',
    '/gps_',
    '/bags/gsk',
    '/GPS_TRACKS/7',
    '/eyes',
    '/keyjob.x',
    '/page_sk_SK',
    '/a_sk_12',
  ])
    t.equal(hideSecrets(path), path)
})

t.test(
  'log redaction hides a key whatever its prefix, mistyped or cut short, but not the prefix',
  async (t) => {
    const key = createKey('secretKey', id, 'acme')
    const shown = `/files/acme${secretPlaceholder}`
    for (const spelling of [key, key.slice(0, -20), key.replace(id, id.slice(1)), key.replace(id, `${id}x`)])
      t.equal(hideSecrets(`/files/${spelling}`), shown, spelling)
    t.equal(hideSecrets(`/files/${key.toUpperCase()}`), shown.replace('acme', 'ACME'))
    t.equal(hideSecrets(`/files/${createKey('secretKey', id).slice(0, 12)}`), `/files/${secretPlaceholder}`)
  },
)

t.test('log redaction hides what begins within what looks like the start of a token', async (t) => {
  const key = createKey('secretKey', id)
  for (const [text, shown] of [
    [`/eyJeyJ${key}`, `/eyJeyJ${secretPlaceholder}`],
    [`/eyJ~${key}.html`, `/eyJ~${secretPlaceholder}`],
    [`/eyJ.eyJhbGciOiJub25lIn0.e30.x`, `/eyJ.${secretPlaceholder}`],
    ['/eyJeyJhbGciOiJub25lIn0.e30.x/y', `/${secretPlaceholder}/y`],
    ['/aeyJhbGciOiJub25lIn0.e30.x', `/a${secretPlaceholder}`],
    ['/eyJeyJeyJ', '/eyJeyJeyJ'],
    ['/eyJeyJ.', '/eyJeyJ.'],
  ] as const)
    t.equal(hideSecrets(text), shown, text)
})
