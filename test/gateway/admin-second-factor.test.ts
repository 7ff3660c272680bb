import { Secret, TOTP } from 'otpauth'
import t from 'tap'
import { storeDrivers } from '../setup/gateway.ts'
import { adminPath, operations, startAdminApi } from './support/admin.ts'
import {
  createCookieJar,
  csrfIn,
  givePassword,
  pageVisit,
  password,
  signInAt,
  submit,
} from './support/cookie-jar.ts'
import { assertProblem } from './support/problem.ts'

for (const driver of storeDrivers) {
  t.test(`the admin API removes a second factor that was lost, on ${driver}`, async (t) => {
    const { gateway, admin, call } = await startAdminApi(t, driver)
    const { account } = await gateway.createAccount()
    await givePassword(t, gateway, account.id)
    const signedIn = async () => {
      const jar = createCookieJar(t, gateway.url)
      return { jar, answer: await signInAt(jar, '/portal/sign-in', account.email) }
    }

    const { jar } = await signedIn()
    const path = '/portal/profile/two-factor'
    const page = await jar.ask(`GET ${path}`, pageVisit('same-origin'))
    const secret = /name="secret" value="([^"]+)"/.exec(page.body)?.[1] ?? ''
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate()
    const enabled = await submit(jar, path, { csrf: csrfIn(page), secret, code, password })
    t.match(enabled.body, 'Recovery codes')
    t.match((await signedIn()).answer, { status: 200, body: /Code/ }, 'it is asked for')

    const factorPath = `${adminPath}/${account.id}/second-factor`
    t.match(await call(operations.resetSecondFactor, factorPath), { status: 204, body: '' })
    t.match((await signedIn()).answer, { status: 303, headers: { location: /integration/ } }, 'and no more')
    t.equal((await call(operations.resetSecondFactor, factorPath)).status, 204, 'there is none')

    const audit = (await call(operations.audit, '/api/v1/admin/audit')).json().items as readonly object[]
    const resets = audit.filter((entry) => JSON.stringify(entry).includes('second-factor-reset'))
    t.equal(resets.length, 1, 'what changed nothing is not in the log')
    t.match(JSON.stringify(resets), admin.account.id, 'the Admin who did it is')
    const own = await call(operations.resetSecondFactor, `${adminPath}/${admin.account.id}/second-factor`)
    assertProblem(t, own, { status: 409, code: 'own-account' })
    t.match(own.json().detail, 'or remove their second factor without a code')
  })
}
