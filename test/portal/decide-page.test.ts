import t from 'tap'
import type { Viewer } from '../../src/auth/portal-sessions.ts'
import { decidePage } from '../../src/portal/decide-page.ts'
import { type PortalPath, pageAccessOf } from '../../src/portal/page-access.ts'
import type { PortalHead } from '../../src/portal/portal-request.ts'

const publicOrigin = 'https://gatehouse.example'
const foreign = { origin: 'https://evil.example' }
const html = { accept: 'text/html' }
// The cast is sound: of a viewer only the role is read.
const viewerAs = (role: string) => ({ account: { role } }) as Viewer

/** @returns the decision, or the code it is refused with, and whether the session was looked up before */
async function decide(
  path: PortalPath,
  request: PortalHead,
  session?: Viewer | 'unchecked',
): Promise<readonly [decision: string, isLookedUp: boolean]> {
  let isLookedUp = false
  const findViewer = async () => {
    isLookedUp = true
    return session
  }
  const decision = await decidePage(request, pageAccessOf(path), { publicOrigin, findViewer }).catch(
    ({ code }: { readonly code: string }) => code,
  )
  return [decision, isLookedUp]
}

t.test(
  'the portal refuses the method first, then the origin, and only then looks up the session',
  async (t) => {
    const admin = viewerAs('Admin')
    for (const [path, request, expected] of [
      ['/audit', { method: 'POST', headers: foreign }, ['method-not-allowed', false]],
      ['/sign-out', { method: 'GET', headers: html }, ['form-page', false]],
      ['/accounts/new', { method: 'POST', headers: foreign }, ['cross-site-request', false]],
      ['/sign-in', { method: 'POST', headers: foreign }, ['cross-site-request', false]],
      ['/accounts/new', { method: 'POST', headers: {} }, ['signed-in', true]],
      ['/accounts/new', { method: 'GET', headers: foreign }, ['signed-in', true]],
      ['/sign-in', { method: 'GET', headers: {} }, ['public', true]],
    ] as const) {
      t.strictSame(await decide(path, request, admin), expected, `${request.method} ${path}`)
    }
  },
)

t.test('a portal page asks anyone not signed in to sign in, and refuses the wrong role', async (t) => {
  for (const [path, headers, session, expected] of [
    ['/profile', {}, undefined, 'credentials-missing'],
    ['/profile', html, undefined, 'sign-in'],
    ['/audit', html, undefined, 'sign-in'],
    ['/profile', html, viewerAs('User'), 'signed-in'],
    ['/audit', html, viewerAs('User'), 'role-forbidden'],
    ['/audit', html, viewerAs('Admin'), 'signed-in'],
    ['/audit', html, 'unchecked', 'signed-in'],
    ['/sign-in', {}, undefined, 'public'],
  ] as const) {
    const [decision] = await decide(path, { method: 'GET', headers }, session)
    t.equal(decision, expected, path)
  }
})
