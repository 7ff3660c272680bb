import t from 'tap'
import { secretPrefixes } from '../../src/secrets/format.ts'
import { hideSecrets, secretPlaceholder, secretStartPattern } from '../../src/secrets/hide-secrets.ts'
import { createAccountId, createKey } from '../../src/secrets/keys.ts'
import { createLinkToken, createPortalToken } from '../../src/secrets/portal-tokens.ts'
import { createRefreshTokens, createSessionId } from '../../src/tokens/refresh-token.ts'

const id = createAccountId()
const secrets: Readonly<Record<keyof typeof secretPrefixes, string>> = {
  secretKey: createKey('secretKey', id),
  apiKey: createKey('apiKey', id),
  refreshToken: createRefreshTokens(Buffer.alloc(32)).create(createSessionId(), 1),
  setupLink: createLinkToken('setup', id).token,
  emailLink: createLinkToken('email', id).token,
  portalSession: createPortalToken(id).token,
}

for (const [kind, secret] of Object.entries(secrets)) {
  t.test(`log redaction hides a secret of kind ${kind} anywhere, in upper case too`, async (t) => {
    t.match(secret, secretStartPattern)
    t.equal(hideSecrets(`/files/${secret}/x`), `/files/${secretPlaceholder}/x`)
    t.equal(hideSecrets(`/files/${secret.replace('_', '%5f')}`), `/files/${secretPlaceholder}`)
    for (const spelling of [secret.toUpperCase(), secret.toLowerCase()]) {
      t.match(spelling, secretStartPattern)
      t.equal(hideSecrets(`/files/${spelling}/x`), `/files/${secretPlaceholder}/x`, spelling)
    }
    t.ok(Object.values(secretPrefixes).some((prefix) => secret.startsWith(`${prefix}_`)))
  })
}

t.test('log redaction leaves text that only begins like a portal secret', async (t) => {
  for (const path of ['/gps_tracks/7', '/gps_', '/bags/gsk', '/GPS_TRACKS/7', '/eyes', '/keyjob.x'])
    t.equal(hideSecrets(path), path)
})
