import t from 'tap'
import { type Claims, hasEmail, parsePerson } from '#identity/oidc/person.ts'

const names = {
  email: 'email',
  emailVerified: 'email_verified',
  firstName: 'given_name',
  lastName: 'family_name',
}
const issuer = 'https://id.example.com'
const parse = (claims: Claims, subject: unknown = 'ada') => parsePerson({ issuer, subject }, claims, names)

t.test('a person is who the claims say, as far as an account can be so', async (t) => {
  const claims = { email: 'Ada@Example.com', email_verified: true, given_name: 'Ada', family_name: 'L' }
  t.strictSame(parse(claims), {
    identity: { issuer, subject: 'ada' },
    email: 'Ada@Example.com',
    isEmailVerified: true,
    firstName: 'Ada',
    lastName: 'L',
  })
  for (const email of [7, null, '', 'ada', 'a@b\n', 'a b@c', `${'a'.repeat(251)}@b.c`, ['a@b.c']])
    t.equal(parse({ ...claims, email })?.email, undefined, JSON.stringify(email))
  for (const name of [7, null, 'a\u0000', 'a\u202e', 'x'.repeat(101), ['a']])
    t.match(parse({ ...claims, given_name: name, family_name: name }), { firstName: '', lastName: '' })
  t.equal(parse({ ...claims, given_name: 'x'.repeat(100) })?.firstName.length, 100)
})

t.test('an e-mail is verified only where a claim says so', async (t) => {
  for (const yes of [true, 'true', 1, '1']) t.equal(parse({ email_verified: yes })?.isEmailVerified, true)
  for (const no of [false, 'false', 0, '0', undefined, null, 'yes', 'True', 2, {}, [], [true]])
    t.equal(parse({ email_verified: no })?.isEmailVerified, false, JSON.stringify(no))
  const entra = { ...names, emailVerified: 'xms_edov' }
  const claims = { email: 'ada@example.com', email_verified: true }
  t.equal(parsePerson({ issuer, subject: 'a' }, claims, entra)?.isEmailVerified, false)
  t.equal(parsePerson({ issuer, subject: 'a' }, { ...claims, xms_edov: '1' }, entra)?.isEmailVerified, true)
  t.equal(hasEmail(claims, entra), false, 'then it may be at the userinfo endpoint')
  t.equal(hasEmail({ ...claims, xms_edov: false }, entra), true)
})

t.test('a subject that cannot be stored is nobody', async (t) => {
  t.ok(parse({}, 'x'.repeat(255)))
  for (const subject of ['', 'x'.repeat(256), 'x'.repeat(100_000), 'a\u0000', '\ud800', 7, null, [], {}])
    t.equal(parse({}, subject), undefined)
})
