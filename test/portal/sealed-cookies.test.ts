import t from 'tap'
import { createSealer } from '#platform/secrets/sealing.ts'
import type { PortalRequest } from '#portal/portal-request.ts'
import { createSealedCookies } from '#portal/sealed-cookies.ts'

/** The jar of a browser that keeps what it gets. */
function openJar() {
  const jar = new Map<string, string>()
  const cookies: PortalRequest['cookies'] = {
    get: (name) => jar.get(name),
    set: (name, value) => void (value === '' ? jar.delete(name) : jar.set(name, value)),
  }
  // The cast is sound: only the cookies of a request are used.
  return { jar, request: { cookies } as PortalRequest }
}

const attributes = { sameSite: 'strict', maxAgeS: 60 } as const
const place = { path: '/portal', isSecure: false }

t.test('a sealed cookie is read only by its name and with the same key', async (t) => {
  const { jar, request } = openJar()
  const cookies = createSealedCookies(createSealer(Buffer.alloc(32, 1)), place)
  t.equal(cookies.set(request, 'a', { secret: 'of a' }, attributes), true)
  t.notMatch([...jar.values()].join(), 'of a')
  t.strictSame(cookies.read(request, 'a'), { secret: 'of a' })
  jar.set('b', jar.get('a') ?? '')
  t.equal(cookies.read(request, 'b'), undefined)
  const others = createSealedCookies(createSealer(Buffer.alloc(32, 2)), place)
  t.equal(others.read(request, 'a'), undefined)
  for (const wrong of ['', 'x', 'A'.repeat(3_800), 'A'.repeat(100_000)]) {
    jar.set('a', wrong)
    t.equal(cookies.read(request, 'a'), undefined)
  }
})

t.test('what browsers would not keep is not set', async (t) => {
  const { jar, request } = openJar()
  const cookies = createSealedCookies(createSealer(Buffer.alloc(32, 1)), place)
  // 28 bytes of nonce and tag, and 8 of JSON; three bytes are four characters.
  const longest = (3_800 / 4) * 3 - 28 - 8
  t.equal(cookies.set(request, 'a', { a: 'x'.repeat(longest) }, attributes), true)
  t.equal(jar.get('a')?.length, 3_800)
  t.ok(cookies.read(request, 'a'))
  for (const length of [longest + 1, longest * 100])
    t.equal(cookies.set(request, 'b', { a: 'x'.repeat(length) }, attributes), false)
  t.equal(jar.has('b'), false)
})
