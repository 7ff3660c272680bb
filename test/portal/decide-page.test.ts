import t from 'tap'
import type { SecondFactorPolicy } from '#identity/second-factor/second-factors.ts'
import type { Viewer } from '#identity/tokens/issued-tokens.ts'
import { type PortalPath, pageAccessOf } from '#portal/page-access.ts'
import { decidePage } from '#portal/portal-gate.ts'
import type { PortalHead } from '#portal/portal-request.ts'

const publicOrigin = 'https://gatehouse.example'
const foreign = { origin: 'https://evil.example' }
const html = { accept: 'text/html' }
// The cast is sound: of a viewer only these are read.
const viewerAs = (role: string, secondFactor?: object) =>
  ({ account: { role, portal: { password: 'x', secondFactor } } }) as Viewer

/** @returns the decision, or the code it is refused with, and whether the session was looked up before */
async function decide(
  path: PortalPath,
  request: PortalHead,
  session?: Viewer | 'unchecked',
  requireSecondFactor: SecondFactorPolicy = 'nobody',
): Promise<readonly [decision: string, isLookedUp: boolean]> {
  let isLookedUp = false
  const findViewer = async () => {
    isLookedUp = true
    return session
  }
  const decision = await decidePage(request, pageAccessOf(path), {
    publicOrigin,
    findViewer,
    requireSecondFactor,
  }).catch(({ code }: { readonly code: string }) => code)
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

t.test('who needs a second factor gets nowhere but to its set-up, and out', async (t) => {
  const [user, admin, enrolled] = [viewerAs('User'), viewerAs('Admin'), viewerAs('Admin', {})]
  for (const [policy, viewer, path, expected] of [
    ['admins', admin, '/audit', 'enrol'],
    ['admins', admin, '/profile', 'enrol'],
    ['admins', admin, '/profile/two-factor', 'signed-in'],
    ['admins', admin, '/sign-in', 'public'],
    ['admins', enrolled, '/audit', 'signed-in'],
    ['admins', user, '/profile', 'signed-in'],
    ['everybody', user, '/profile', 'enrol'],
    ['nobody', admin, '/audit', 'signed-in'],
    ['admins', 'unchecked', '/audit', 'signed-in'],
  ] as const) {
    const [decision] = await decide(path, { method: 'GET', headers: html }, viewer, policy)
    t.equal(decision, expected, `${policy} ${path}`)
  }
  const post = { method: 'POST', headers: html }
  t.strictSame((await decide('/integration/secret-key/reveal', post, admin, 'admins'))[0], 'enrol')
  t.strictSame((await decide('/profile/two-factor/disable', post, admin, 'admins'))[0], 'enrol')
  t.strictSame((await decide('/sign-out', post, admin, 'admins'))[0], 'signed-in')
  const script = { method: 'POST', headers: {} }
  t.strictSame(
    (await decide('/integration/secret-key/reveal', script, admin, 'admins'))[0],
    'credentials-missing',
  )
})
