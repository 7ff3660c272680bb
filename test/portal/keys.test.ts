import t from 'tap'
import { until } from '../setup/net.ts'
import { findBarriers } from './support/axe.ts'
import { goodPassword, type Portal, portalTests, statusWith } from './support/portal.ts'

// slow: walks through every page of keys

const test = portalTests(t)
const testWithoutCopies = portalTests(t, {
  config: { keys: { sealingKey: { file: 'sealing.key' }, reveal: false } },
})

/** What the box of a key shows. */
const secretBox = '[data-key="secretKey"] code'
const apiKeyBox = '[data-key="apiKey"] code'

test('a key is revealed after the password, and copied', async (t, portal) => {
  const { page, secretKey, visitor } = await portal.createPerson()
  await visitor.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const box = page.locator(secretBox)
  t.match(await box.textContent(), /^…sk_\w{16}_•{6}\w{4}$/)
  await page.getByText('Reveal the secret key').click()
  const password = page.locator('#secretKey-reveal-password')
  await password.fill('not the password')
  await password.press('Enter')
  await page.getByText('The password is wrong.').waitFor()
  t.strictSame(await findBarriers(page), [])
  t.match(await box.textContent(), '•')
  await password.fill(goodPassword)
  await password.press('Enter')
  await page.getByText('Shown for one minute.').waitFor()
  t.equal(await box.textContent(), secretKey)
  t.match(await page.locator('#code-examples').textContent(), `GATEHOUSE_SECRET_KEY='${secretKey}'`)
  t.strictSame(await findBarriers(page), [])
  await page.getByRole('button', { name: 'Copy: the secret key' }).click()
  await page.getByText('Copied').waitFor()
  t.equal(await page.evaluate('navigator.clipboard.readText()'), secretKey)
  t.equal(await statusWith(portal, secretKey), 200)
  t.equal(await page.getByText('Reveal the secret key').isVisible(), false, 'there is nothing to reveal')
  await page.getByRole('button', { name: 'Hide: the secret key' }).click()
  await page.getByText('Hidden again.').waitFor()
  t.notMatch(await page.content(), secretKey)
  t.equal(await page.locator('summary', { hasText: 'Reveal the secret key' }).isVisible(), true)
})

test('a wrong password is reported at its field until it is typed again', async (t, portal) => {
  const { page } = await portal.createPerson()
  const password = page.locator('#secretKey-reveal-password')
  const error = page.locator('#secretKey-reveal-password-error')
  const markup = () => error.evaluate((place) => place.innerHTML)
  await page.getByText('Reveal the secret key').click()
  const tryWrong = async () => {
    await password.fill('not the password')
    await password.press('Enter')
    await page.locator('[role=alert]#secretKey-reveal-password-error').waitFor()
  }
  await tryWrong()
  t.equal(await error.textContent(), 'The password is wrong.')
  t.equal(await password.getAttribute('aria-invalid'), 'true')
  t.equal(await password.getAttribute('aria-describedby'), 'secretKey-reveal-password-error')
  t.strictSame(await findBarriers(page), [])
  const markupByScript = await markup()
  await password.pressSequentially('c')
  t.equal(await error.count(), 0)
  t.equal(await password.getAttribute('aria-invalid'), null)
  await tryWrong()
  await password.fill(goodPassword)
  await password.press('Enter')
  await page.getByRole('button', { name: 'Hide: the secret key' }).click()
  await page.getByText('Reveal the secret key').click()
  t.equal(await error.count(), 0)

  // Without the script the page itself shows it, in the same form.
  await page.route('**/assets/*.js', (route) => route.abort())
  await page.goto(`${portal.url}/portal/integration`)
  await page.getByText('Reveal the secret key').click()
  await password.fill('not the password')
  await password.press('Enter')
  await error.waitFor()
  t.equal(await markup(), markupByScript)
})

test('the lines for the environment are offered for copying once both keys are in them', async (t, portal) => {
  const { page, secretKey, apiKey, visitor } = await portal.createPerson()
  await visitor.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const copy = page.getByRole('button', { name: 'Copy: Environment' })
  const revealKey = async (noun: string, kind: string) => {
    await page.getByText(`Reveal the ${noun}`).click()
    await page.locator(`#${kind}-reveal-password`).fill(goodPassword)
    await page.locator(`#${kind}-reveal-password`).press('Enter')
    await page.getByRole('button', { name: `Hide: the ${noun}` }).waitFor()
  }
  t.equal(await copy.isVisible(), false)
  await revealKey('secret key', 'secretKey')
  t.equal(await copy.isVisible(), false)
  await revealKey('API key', 'apiKey')
  await copy.click()
  await page.getByText('Copied').waitFor()
  const copied = await page.evaluate('navigator.clipboard.readText()')
  t.equal(copied, `export GATEHOUSE_SECRET_KEY='${secretKey}'\nexport GATEHOUSE_API_KEY='${apiKey}'`)
  await page.getByRole('button', { name: 'Hide: the secret key' }).click()
  t.equal(await copy.isVisible(), false)
})

test('the button that opens a form stays where it is', async (t, portal) => {
  const { page } = await portal.createPerson()
  const acts = page.locator('#secretKey summary')
  // On the page: the browser scrolls to the field that gets the focus.
  const places = () =>
    page.evaluate(`[...document.querySelectorAll('#secretKey summary')].map((act) => {
      const { left, top } = act.getBoundingClientRect()
      return [left + scrollX, top + scrollY]
    })`)
  const before = await places()
  for (const act of await acts.all()) await act.click()
  t.strictSame(await places(), before)
  t.equal(await page.locator('#secretKey-reveal-password').isVisible(), true)
  t.equal(await page.locator('#secretKey-reset-password').isVisible(), true)
})

test('a reset without overlap ends the old key at once, and shows the new one', async (t, portal) => {
  const { page, secretKey } = await portal.createPerson()
  t.equal(await statusWith(portal, secretKey), 200)
  await page.getByText('Reset the secret key…').click()
  await page.getByText('Revoke now').first().click()
  await page.locator('#secretKey-reset-password').fill(goodPassword)
  await page.getByRole('button', { name: 'Reset the secret key' }).click()
  await page.getByText('New secret key. Copy it now').waitFor()
  const fresh = (await page.locator(secretBox).textContent()) ?? ''
  t.match(fresh, /^gate_sk_\w{16}_\w{43}_\w{6}$/)
  t.not(fresh, secretKey)
  t.equal(await statusWith(portal, secretKey), 401)
  t.equal(await statusWith(portal, fresh), 200)
  t.strictSame(await findBarriers(page), [])
})

test('back and reload show a page with its keys masked, and submit no form again', async (t, portal) => {
  const { page } = await portal.createPerson()
  await page.getByText('Reset the API key…').click()
  await page.locator('#apiKey-reset-password').fill(goodPassword)
  await page.getByRole('button', { name: 'Reset the API key' }).click()
  await page.getByText('New API key. Copy it now').waitFor()
  const fresh = (await page.locator(apiKeyBox).textContent()) ?? ''
  t.equal(page.url(), `${portal.url}/portal/integration`)
  await page.getByRole('link', { name: 'Profile' }).click()
  await page.getByRole('heading', { name: 'Profile' }).waitFor()
  const again = [() => page.goBack(), () => page.reload()]
  for (const look of again) {
    await look()
    await page.getByRole('heading', { name: 'Integration' }).waitFor()
    t.match(await page.locator(apiKeyBox).textContent(), '•')
    t.notMatch(await page.content(), fresh)
  }
  await page.getByRole('button', { name: 'Send request' }).click()
  await page.getByRole('heading', { name: 'The backend received' }).waitFor()
  t.equal(page.url(), `${portal.url}/portal/integration#try-it`)
})

test('a reset sent again by a reload without the script resets nothing', async (t, portal) => {
  const { visitor } = await portal.createPerson()
  const { page, context } = await portal.visit({ javaScriptEnabled: false })
  await context.addCookies(await visitor.context.cookies())
  await page.goto(`${portal.url}/portal/integration`)
  await page.getByText('Reset the secret key…').click()
  await page.locator('#secretKey-reset-password').fill(goodPassword)
  await page.getByRole('button', { name: 'Reset the secret key' }).click()
  await page.getByText('New secret key. Copy it now').waitFor()
  const fresh = (await page.locator(secretBox).textContent()) ?? ''
  await page.reload()
  await page.getByText('This key was already replaced').waitFor()
  t.equal(await statusWith(portal, fresh), 200)
})

test('a reset is confirmed, and its key shown for a minute, with the focus on copying it', async (t, portal) => {
  const { page } = await portal.createPerson()
  await page.clock.install()
  await page.goto(`${portal.url}/portal/integration`)
  const made = { '24 hours': 'keeps working for 24 hours', 'Revoke now': 'is revoked' }
  for (const [choice, outcome] of Object.entries(made)) {
    await page.getByText('Reset the secret key…').click()
    await page.locator('#secretKey-reset-password').fill(goodPassword)
    await page.getByLabel(choice, { exact: true }).click()
    await page.getByRole('button', { name: 'Reset the secret key' }).click()
    const notice = page.getByRole('status').filter({ hasText: 'New secret key.' })
    t.equal(await notice.textContent(), `New secret key. Copy it now; the old one ${outcome}.`)
    await page.locator('[aria-label="Copy: the secret key"]:focus').waitFor()
    t.equal(await page.getByRole('button', { name: 'Hide: the secret key' }).isVisible(), true)
    t.strictSame(await findBarriers(page), [])
    await page.clock.fastForward(60_000)
    await page.getByText('Hidden again.').waitFor()
    t.match(await page.locator(secretBox).textContent(), '•')
    t.equal(await notice.count(), 0)
    t.equal(await page.getByText('Reveal the secret key').isVisible(), true)
  }
})

test('the keys page shows live whether the old key of an overlap is used, and ends the overlap', async (t, portal) => {
  const { page, secretKey } = await portal.createPerson()
  await page.getByText('Reset the secret key…').click()
  await page.getByText('1 hour').click()
  await page.locator('#secretKey-reset-password').fill(goodPassword)
  await page.getByRole('button', { name: 'Reset the secret key' }).click()
  await page.getByText('Two secret keys are valid.').waitFor()
  await page.getByText('Not used: safe to revoke').waitFor()
  t.equal(await statusWith(portal, secretKey), 200)
  await page.getByText('Still in use: last used just now from 127.0.0.1.').waitFor()
  t.equal(await page.getByRole('button', { name: 'Revoke now' }).isVisible(), false, 'asks first')
  await page.getByText('Revoke now…').click()
  await page.getByText('Clients that still use the old secret key will be rejected.').waitFor()
  t.strictSame(await findBarriers(page), [])
  await page.getByRole('button', { name: 'Revoke now' }).click()
  await page.getByText('The old secret key is revoked.').waitFor()
  t.equal(await statusWith(portal, secretKey), 401)
  t.equal(await page.getByText('Two secret keys are valid.').count(), 0)
})

test('an expired overlap ends the old key, and the keys page says so', async (t, portal) => {
  const { page, secretKey, email } = await portal.createPerson()
  await portal.command('keys', 'reset-secret', email, '--grace', '3s')
  await page.goto(`${portal.url}/portal/integration`)
  await page.getByText('Two secret keys are valid.').waitFor()
  await untilRefused(portal, secretKey)
  await page.getByText('The old secret key has expired: only the new one works.').waitFor()
  t.equal(await page.getByRole('button', { name: 'Revoke now' }).isVisible(), false)
})

test('after a reset of the API key the old pair gets no access token', async (t, portal) => {
  const { page, secretKey, apiKey } = await portal.createPerson()
  const ask = async (APIKey: string) => {
    const response = await fetch(`${portal.url}/api/v1/accounts/access-token`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ SecretKey: secretKey, APIKey }),
    })
    return response.status
  }
  t.equal(await ask(apiKey), 200)
  await page.getByText('Reset the API key…').click()
  await page.locator('#apiKey-reset-password').fill(goodPassword)
  await page.getByRole('button', { name: 'Reset the API key' }).click()
  await page.getByText('New API key. Copy it now; the old one is revoked.').waitFor()
  const fresh = (await page.locator(apiKeyBox).textContent()) ?? ''
  t.equal(await ask(apiKey), 401)
  t.equal(await ask(fresh), 200)
})

test('the keys page shows when, from where and how a key was last used', async (t, portal) => {
  const { page, secretKey } = await portal.createPerson()
  t.equal(await page.locator('#secretKey .facts').textContent(), 'Createdjust nowLast usedNever')
  t.equal(await statusWith(portal, secretKey), 200)
  await until('the use shows', async () => {
    await page.reload()
    return (await page.locator('#secretKey').getByText('127.0.0.1').count()) === 1
  })
  t.match(
    await page.locator('#secretKey .facts').textContent(),
    /Last usedjust now\s*Address127\.0\.0\.1Used forAPI request/,
  )
})

testWithoutCopies('where no copies are kept a key is shown at its reset alone', async (t, portal) => {
  const { page } = await portal.createPerson()
  t.equal(await page.getByText('Reveal the secret key').count(), 0)
  await page.getByText('Reset the secret key…').click()
  await page.locator('#secretKey-reset-password').fill(goodPassword)
  await page.getByRole('button', { name: 'Reset the secret key' }).click()
  await page.getByText('Copy the secret key now: it is not stored and cannot be shown again.').waitFor()
  await page.locator('[aria-label="Copy: the secret key"]:focus').waitFor()
  t.equal(await page.getByRole('button', { name: 'Hide: the secret key' }).isVisible(), false, 'it stays')
  t.equal(await statusWith(portal, (await page.locator(secretBox).textContent()) ?? ''), 200)
  await page.goto(`${portal.url}/portal/integration`)
  t.match(await page.locator(secretBox).textContent(), '•')
})

testWithoutCopies(
  'a copy that was sealed before is not revealed, whatever form asks for it',
  async (t, portal) => {
    const { page, email } = await portal.createPerson()
    const reset = await portal.command('keys', 'reset-secret', email, '--set', 'keys.reveal=true')
    // The cast is sound: the tests of the command look at what it prints.
    const { secretKey } = reset as { readonly secretKey: string }
    await page.goto(`${portal.url}/portal/integration`)
    t.equal(await page.getByText('Reveal the secret key').count(), 0)
    await page.getByText('Reset the secret key…').click()
    // The page has no form to reveal it: this one is sent there instead.
    const form = page.locator('#secretKey form[action$="/secret-key/reset"]')
    await form.evaluate((element) => {
      element.setAttribute('action', String(element.getAttribute('action')).replace(/reset$/, 'reveal'))
    })
    await page.locator('#secretKey-reset-password').fill(goodPassword)
    const answered = page.waitForResponse(/secret-key.reveal$/)
    await page.getByRole('button', { name: 'Reset the secret key' }).click()
    t.equal((await answered).status(), 400)
    t.notMatch(await page.content(), secretKey)
  },
)

async function untilRefused(portal: Portal, secretKey: string): Promise<void> {
  await until('the old key is refused', async () => (await statusWith(portal, secretKey)) === 401)
}
