import { once } from 'node:events'
import { request } from 'node:http'
import t from 'tap'
import { type Person, type Portal, portalTests } from './support/portal.ts'

const test = portalTests(t)

test('a form that is held back while its Admin is disabled or demoted does nothing', async (t, portal) => {
  const outcomes = [
    ['--disabled', 'true', 401],
    ['--role', 'User', 403],
  ] as const
  // So that those below are not the last Admin.
  await portal.createPerson({ role: 'Admin' })
  for (const [option, value, status] of outcomes) {
    const person = await portal.createPerson({ role: 'Admin' })
    const sendForm = await holdBack(portal, person, '/accounts/new')
    await portal.command('accounts', 'update', person.id, option, value)
    t.equal(await sendForm('newcomer@example.com'), status, `${option} ${value}`)
  }
  const admin = await portal.createPerson({ role: 'Admin' })
  const sendForm = await holdBack(portal, admin, '/accounts/new')
  t.equal(await sendForm('newcomer@example.com'), 200, 'else it does: the e-mail is not taken')
})

/** Sends the head of a form that is admitted. @returns what sends the form and returns the status of the response */
async function holdBack({ url }: Portal, { visitor, page }: Person, path: string) {
  await page.goto(`${url}/portal${path}`)
  const csrf = await page.locator('input[name=csrf]').first().inputValue()
  const cookies = (await visitor.context.cookies()).filter(({ name }) => name === 'gatehouse-portal')
  const sent = request(`${url}/portal${path}`, {
    method: 'POST',
    headers: {
      Origin: url,
      Cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; '),
      'Content-Type': 'application/x-www-form-urlencoded',
      Expect: '100-continue',
    },
  })
  sent.flushHeaders()
  await once(sent, 'continue')
  return async (email: string): Promise<number> => {
    const form = { csrf, email, firstName: 'Ada', lastName: 'Lovelace', role: 'Admin' }
    sent.end(new URLSearchParams(form).toString())
    const [response] = await once(sent, 'response')
    response.resume()
    return response.statusCode
  }
}
