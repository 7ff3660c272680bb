import { X509Certificate } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import { makeCertificate } from '../setup/certificates.ts'
import { findBarriers } from './support/axe.ts'
import { goodPassword, type Portal, portalTests, signIn } from './support/portal.ts'

const [laptop, server] = ['laptop', 'server'].map(
  (name) => new X509Certificate(makeCertificate(t, `DNS:${name}`, name).cert),
) as [X509Certificate, X509Certificate]

const test = portalTests(t, {
  config: {
    keys: { sealingKey: { file: 'sealing.key' }, accept: ['SecretKey', 'certificate'] },
    trustedProxies: ['127.0.0.1'],
    clientCertificateHeader: 'Client-Cert',
  },
})

/** Of a call by way of a proxy whose client has proven to have the certificate. */
async function statusWith({ url }: Portal, { raw }: X509Certificate): Promise<number> {
  const response = await fetch(`${url}/any`, { headers: { 'Client-Cert': `:${raw.toString('base64')}:` } })
  await response.text()
  return response.status
}

test('a person makes a certificate a key, by PEM or by its SHA-256, and revokes it', async (t, portal) => {
  const { page } = await portal.createPerson()
  await page.setViewportSize({ width: 390, height: 800 })
  const card = page.locator('#further-keys')
  const open = () => card.getByText('Use a certificate…').click()
  const form = card.locator('form[action$="/integration/keys/certificate"]')
  const send = async (name: string, certificate: string, password = goodPassword) => {
    await form.getByLabel('Certificate').fill(certificate)
    await form.getByLabel('Name').fill(name)
    await form.getByLabel('Your password').fill(password)
    await form.getByRole('button', { name: 'Create' }).click()
  }

  t.equal(await statusWith(portal, laptop), 401)
  await open()
  t.strictSame(await findBarriers(page), [])
  await send('laptop', 'no certificate')
  await page.getByText('Must be a certificate as PEM').waitFor()
  t.strictSame(await findBarriers(page), [])
  t.equal(await form.getByLabel('Certificate').inputValue(), 'no certificate', 'what was typed stays')
  await send('laptop', `${laptop}-----BEGIN PRIVATE KEY-----\nMIG\n-----END PRIVATE KEY-----`)
  await page.getByText('Must not contain the private key').waitFor()
  t.equal(await form.getByLabel('Certificate').inputValue(), '', 'but a private key is not repeated')
  await send('laptop', laptop.toString(), 'not the password')
  await page.getByText('The password is wrong.').waitFor()
  t.equal(await statusWith(portal, laptop), 401)
  await send('laptop', laptop.toString())
  await page.getByText('The certificate is a key of yours now.').waitFor()
  t.equal(await statusWith(portal, laptop), 200)

  await open()
  await send('again', laptop.fingerprint256)
  await page.getByText('This certificate is a key of this account already.').waitFor()
  await send('server', server.fingerprint256)
  await page.getByText('The certificate is a key of yours now.').waitFor()
  t.equal(await statusWith(portal, server), 200)

  await card.locator('tbody', { hasText: 'laptop' }).getByText('Revoke…').click()
  await card.locator('tbody', { hasText: 'laptop' }).getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('The key is revoked.').waitFor()
  t.strictSame([await statusWith(portal, laptop), await statusWith(portal, server)], [401, 200])
})

test('a certificate of somebody else is refused, without the script of the page too', async (t, portal) => {
  const owner = await portal.createPerson()
  const { cert } = makeCertificate(t, 'DNS:owner', 'owner')
  await portal.command(
    'keys',
    'create',
    owner.id,
    '--name',
    'theirs',
    '--certificate',
    join(t.testdir({ 'client.pem': cert }), 'client.pem'),
  )
  const other = await portal.createPerson()
  const { page } = await portal.visit({ javaScriptEnabled: false })
  await signIn(page, portal, other)
  await page.getByText('Use a certificate…').click()
  const form = page.locator('form[action$="/integration/keys/certificate"]')
  await form.getByLabel('Certificate').fill(cert)
  await form.getByLabel('Name').fill('mine')
  await form.getByLabel('Your password').fill(goodPassword)
  await form.getByRole('button', { name: 'Create' }).click()
  await page.getByText('This certificate is a key of another account.').waitFor()
})

const plain = portalTests(t)

plain('where certificates are no keys the form is not shown, and does nothing', async (t, portal) => {
  const { page } = await portal.createPerson()
  t.equal(await page.getByText('Use a certificate…').count(), 0)
  await page.locator('form[action$="/integration/keys/create"]').evaluate((form, certificate) => {
    form.setAttribute('action', form.getAttribute('action')?.replace('create', 'certificate') ?? '')
    form.insertAdjacentHTML('beforeend', `<input name="certificate" value="${certificate}">`)
  }, laptop.fingerprint256)
  await page.getByText('Create a key…').click()
  await page.locator('#new-key-name').fill('laptop')
  await page.locator('#new-key-password').fill(goodPassword)
  const answered = page.waitForResponse('**/integration/keys/certificate')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  t.equal((await answered).status(), 400)
  t.match(await page.locator('#further-keys').textContent(), 'No further keys')
})
