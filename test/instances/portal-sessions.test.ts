import t from 'tap'
import { run } from '../cli/run.ts'
import { ask } from '../gateway/support/ask.ts'
import { createCookieJar, givePassword, pageVisit, signInAt } from '../gateway/support/cookie-jar.ts'
import { startInstances } from './instances.ts'

const { gateways } = await startInstances(t, {})
const [first, second] = gateways
const admin = await first.createAccount({ role: 'Admin' })
const adminKey = [`SecretKey: ${admin.secretKey}`]

/** Somebody who is signed in to the portal, by a browser that asks the second instance. */
async function newViewer() {
  const { account } = await first.createAccount({ email: `viewer${Math.random()}@example.com` })
  await givePassword(t, first, account.id)
  const jar = createCookieJar(t, second.url)
  await signInAt(jar, '/portal/sign-in', account.email)
  const shownPage = async () => {
    const { status, headers } = await jar.ask('GET /portal/sessions', pageVisit('same-origin'))
    return status === 303 ? headers.location?.replace(/\?.*/, '') : status
  }
  t.equal(await shownPage(), 200)
  return { account, shownPage }
}

const sessionsOf = (id: string) => `/api/v1/admin/accounts/${id}/sessions`

t.test('DELETE sessions of the admin API ends portal sessions at once, on every instance', async (t) => {
  const [viewer, other] = [await newViewer(), await newViewer()]
  const ended = await ask(t, first.url, `DELETE ${sessionsOf(viewer.account.id)}`, adminKey)
  t.equal(ended.status, 204)
  t.equal(await viewer.shownPage(), '/portal/sign-in')
  t.equal(await other.shownPage(), 200, "nobody else's")
})

t.test('so does the command, which names what it ended', async (t) => {
  const { account, shownPage } = await newViewer()
  const open = await first.operate(({ sessions }) => sessions.listPortal(account.id))
  const revoke = ['sessions', 'revoke', account.id, '--json', '--config', first.configFile]
  t.strictSame((await run(t, revoke)).json(), { revoked: open.map(({ id }) => id) })
  t.equal(await shownPage(), '/portal/sign-in')
})

t.test(
  'one token session that is ended leaves the portal as it is, where it has none of its own',
  async (t) => {
    const made = await first.createAccount({ role: 'Admin' })
    await givePassword(t, first, made.account.id)
    const jar = createCookieJar(t, second.url)
    await signInAt(jar, '/portal/sign-in', made.account.email)
    await first.tokens(made)
    const { items } = (await ask(t, first.url, `GET ${sessionsOf(made.account.id)}`, adminKey)).json()
    const [session] = items as readonly [{ readonly id: string }]
    await ask(t, first.url, `DELETE ${sessionsOf(made.account.id)}?session=${session.id}`, adminKey)
    t.equal((await jar.ask('GET /portal/sessions', pageVisit('same-origin'))).status, 200)
  },
)
