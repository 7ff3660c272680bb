import t from 'tap'
import { createOwnCookies } from '#gateway/forward/own-cookies.ts'
import { looksLikeAccessToken } from '#identity/tokens/jwt.ts'

const withoutCookie = (header: string, name: string) => createOwnCookies({ names: [name] }).remove(header)

const headers: readonly (readonly [header: string, kept: string])[] = [
  ['', ''],
  ['a=1', 'a=1'],
  ['a=1; b=2', 'a=1; b=2'],
  ['refreshToken=x', ''],
  ['refreshToken', ''],
  ['refreshToken=', ''],
  ['refreshToken=x;', ''],
  ['a=1; refreshToken=x', 'a=1'],
  ['refreshToken=x; a=1', 'a=1'],
  ['a=1; refreshToken=x; b=2', 'a=1; b=2'],
  ['a=1;refreshToken=x;b=2', 'a=1;b=2'],
  ['refreshToken=x; refreshToken=y; a=1; refreshToken=z', 'a=1'],
  ['  refreshToken = x ; a=1', 'a=1'],
  ['\trefreshToken\t=x; a=1', 'a=1'],
  ['refreshToken=a=b=c; d=e', 'd=e'],
  ['refreshToken="a b"; c=d', 'c=d'],
  // Another cookie, though the name is in it.
  ['myrefreshToken=x', 'myrefreshToken=x'],
  ['refreshToken2=x; a=1', 'refreshToken2=x; a=1'],
  ['a=refreshToken=x', 'a=refreshToken=x'],
  ['a=refreshToken; b=2', 'a=refreshToken; b=2'],
  // Names of cookies are compared with their case (RFC 6265 4.1.1).
  ['RefreshToken=x', 'RefreshToken=x'],
  ['=refreshToken', '=refreshToken'],
  // As some backends read them: PHP before 7.4.11, RFC 2109.
  ['refresh%54oken=x; a=1', 'a=1'],
  ['"refreshToken"=x; a=1', 'a=1'],
  ['a=1, refreshToken=x; b=2', 'b=2'],
  ['%zz=1', '%zz=1'],
  ['a=1;; ;b=2', 'a=1;; ;b=2'],
]

t.test('every cookie of the name goes, the others stay as they were written', async (t) => {
  for (const [header, kept] of headers)
    t.equal(withoutCookie(header, 'refreshToken'), kept, JSON.stringify(header))
})

t.test('a name with a prefix is a name like any other', async (t) => {
  t.equal(withoutCookie('__Host-rt=x; rt=y', '__Host-rt'), 'rt=y')
  t.equal(withoutCookie('__Host-rt=x; rt=y', 'rt'), '__Host-rt=x')
})

t.test(
  'a name for any case goes in any case, and one of others only with a value that is ours',
  async (t) => {
    const token = `${Buffer.from('{"alg":"ES256","typ":"at+jwt"}').toString('base64url')}.e30.x`
    const enabled = createOwnCookies({ names: [], anyCase: ['accessToken'] })
    t.equal(enabled.remove('ACCESSTOKEN=x; %61ccesstoken=y; a=1'), 'a=1')
    const disabled = createOwnCookies({
      names: [],
      others: [{ name: 'accessToken', isOwn: looksLikeAccessToken }],
    })
    t.equal(disabled.remove(`accessToken=theirs; accessToken=${token}`), 'accessToken=theirs')
  },
)

t.test('a Set-Cookie of a backend is recognised as browsers read it', async (t) => {
  const cookies = createOwnCookies({ names: ['refreshToken'], anyCase: ['__Host-at'] })
  for (const own of [
    'refreshToken=x',
    ' refreshToken =x; Path=/',
    'refreshToken',
    '=refreshToken=x',
    ' = refreshToken=x; Secure',
    '__host-AT=x; Path=/; Secure',
  ])
    t.ok(cookies.isSetBy(own), own)
  for (const other of ['RefreshToken=x', 'a=refreshToken=x', 'a=1; refreshToken=x', 'refreshToken2=x', ''])
    t.notOk(cookies.isSetBy(other), other)
})
