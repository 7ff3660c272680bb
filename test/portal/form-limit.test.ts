import t, { type Test } from 'tap'
import { openPortalForm } from '../security/support/portal-form.ts'
import { startGateway, type TestGateway } from '../setup/gateway.ts'

const atOnce = 600
const oneMoreMs = 6_000

/** Somebody who has just chosen a password. @returns what sends a form of theirs that changes nothing */
async function signIn(t: Test, gateway: TestGateway) {
  const { account } = await gateway.createAccount()
  const { token } = await gateway.operate(({ setupLinks }) => setupLinks.create(account.id))
  const choose = await openPortalForm(gateway.url, '/setup')
  const password = 'correct horse battery staple'
  const { cookies: Cookie } = await choose({ token, password, again: password })
  const page = await (await fetch(`${gateway.url}/portal/profile`, { headers: { Cookie } })).text()
  const own = /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? ''
  t.not(own, '')
  return async function send(csrf = own): Promise<Response> {
    const body = new URLSearchParams({ csrf, firstName: 'x'.repeat(101), lastName: 'y' })
    const headers = { Cookie, Origin: gateway.url }
    const response = await fetch(`${gateway.url}/portal/profile/name`, { method: 'POST', headers, body })
    await response.arrayBuffer()
    return response
  }
}

t.test('an account that sends forms without pause has to wait, and no other does', async (t) => {
  const gateway = await startGateway(t)
  const [send, sendOther] = [await signIn(t, gateway), await signIn(t, gateway)]
  t.equal((await send('forged')).status, 403, 'what others make its browser send does not count')
  const startedAt = performance.now()
  let sent = 0
  let answer = await send()
  for (; answer.status === 400 && sent < 2 * atOnce; answer = await send()) sent++
  const freed = Math.ceil((performance.now() - startedAt) / oneMoreMs)
  t.equal(answer.status, 429)
  t.match(answer.headers.get('retry-after'), /^[1-6]$/)
  t.ok(sent >= atOnce && sent <= atOnce + freed, `${sent} were answered first`)
  t.equal((await sendOther()).status, 400)
})
