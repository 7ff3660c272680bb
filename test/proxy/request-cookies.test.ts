import t from 'tap'
import { withoutCookie } from '../../src/proxy/header-rules.ts'

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
