import t from 'tap'
import { createSealer } from '#platform/secrets/sealing.ts'
import { createPortalCookies } from '#portal/cookies.ts'
import { createFlashNotices } from '#portal/forms/flash-notices.ts'
import type { CookieAttributes, PortalRequest } from '#portal/portal-request.ts'
import { createSealedCookies } from '#portal/sealed-cookies.ts'
import { translationOf } from '#portal/texts/texts.ts'

/** The jar of a browser that keeps what it gets. */
function openJar() {
  const jar = new Map<string, string>()
  const attributesOf = new Map<string, CookieAttributes>()
  const cookies: PortalRequest['cookies'] = {
    get: (name) => jar.get(name),
    set: (name, value, attributes) => {
      attributesOf.set(name, attributes)
      if (value === '') jar.delete(name)
      else jar.set(name, value)
    },
  }
  // The cast is sound: only the cookies of a request are used.
  return { jar, attributesOf, request: { cookies } as PortalRequest }
}

const attributes = { sameSite: 'strict', maxAgeS: 60 } as const
const path = '/portal'
const place = createPortalCookies({ path, isSecure: false, isAlone: false, tokens: undefined })

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

t.test('on a host of its own the portal takes nothing that another host of the domain can set', async (t) => {
  const { jar, attributesOf, request } = openJar()
  const cookies = createPortalCookies({ path, isSecure: true, isAlone: true, tokens: undefined })
  const sealed = createSealedCookies(createSealer(Buffer.alloc(32, 1)), cookies)
  const notices = createFlashNotices(cookies)
  const { texts } = translationOf('en')
  sealed.set(request, 'a', { of: 'a' }, { ...attributes, path: '/sign-in' })
  notices.set(request, 'password-changed')
  t.strictSame([...jar.keys()], ['__Host-a', '__Host-gatehouse-notice'])
  // Browsers drop a __Host- cookie with another path.
  t.match(attributesOf.get('__Host-a'), { path: '/', secure: true, httpOnly: true })
  t.match(attributesOf.get('__Host-gatehouse-notice'), { path: '/', secure: true, httpOnly: true })

  const own = [...jar]
  t.strictSame(sealed.read(request, 'a'), { of: 'a' })
  t.ok(notices.take(request, texts))
  sealed.clear(request, 'a', { ...attributes, path: '/sign-in' })
  t.strictSame([...jar], [], 'they are cleared where they are')
  t.match(
    [...attributesOf.values()],
    [
      { path: '/', maxAge: 0 },
      { path: '/', maxAge: 0 },
    ],
  )
  for (const [name, value] of own)
    for (const prefix of ['', '__Secure-']) jar.set(name.replace('__Host-', prefix), value)
  t.equal(sealed.read(request, 'a'), undefined)
  t.equal(notices.take(request, texts), undefined)
})
