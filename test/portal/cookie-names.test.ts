import { globSync, readFileSync } from 'node:fs'
import t from 'tap'
import type { SignedIn } from '#identity/portal/portal-sessions.ts'
import { createPortalCookies, portalCookieNames } from '#portal/cookies.ts'
import { createFlashNotices } from '#portal/forms/flash-notices.ts'
import type { PortalRequest } from '#portal/portal-request.ts'

t.test('what the portal sets has a name that no backend may set', async (t) => {
  for (const place of [
    { isSecure: false, isAlone: false },
    { isSecure: true, isAlone: false },
    { isSecure: true, isAlone: true },
  ]) {
    const names = new Set<string>()
    const jar: PortalRequest['cookies'] = { get: () => undefined, set: (name) => void names.add(name) }
    // The casts are sound: only these members are used.
    const request = { cookies: jar } as PortalRequest
    const session = { createdAt: 0, expiresAt: 1_000 }
    const signedIn = { token: 'a', clientToken: 'b', session, tokens: undefined } as SignedIn

    const cookies = createPortalCookies({ ...place, path: '/portal', tokens: undefined })
    cookies.setSession(request, signedIn)
    cookies.setFormToken(request)
    createFlashNotices(cookies).set(request, 'password-changed')

    t.equal(names.size, 4)
    for (const name of names) t.ok(portalCookieNames.includes(name), name)
  }
})

t.test('every name of a cookie in the sources of the portal is listed', async (t) => {
  const names = globSync('src/portal/**/*.ts').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/['`](gatehouse-[a-z-]+)(?:\$\{index\})?['`]/g)].map(
      ([, name = '']) => name,
    ),
  )
  t.ok(names.length > 8, 'they are found')
  // Those of the sign-ins in progress end in a number.
  for (const name of names) t.ok(portalCookieNames.includes(name.endsWith('-') ? `${name}0` : name), name)
})
