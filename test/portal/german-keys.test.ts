import t from 'tap'
import { findBarriers } from './support/axe.ts'
import { goodPassword, type Person, type Portal, portalTests, statusWith } from './support/portal.ts'

const test = portalTests(t)

test('who reads German resets a key, and follows its use, in German', async (t, portal) => {
  const { page, secretKey } = await createGerman(portal)
  await page.getByText('Geheimschlüssel anzeigen').click()
  await page.locator('#secretKey-reveal-password').fill('not the password')
  await page.getByRole('button', { name: 'Anzeigen', exact: true }).first().click()
  await page.getByText('Das Passwort ist falsch.').waitFor()
  await page.getByText('Geheimschlüssel zurücksetzen…').click()
  await page.getByText('7 Tage').click()
  await page.locator('#secretKey-reset-password').fill(goodPassword)
  await page.getByRole('button', { name: 'Geheimschlüssel zurücksetzen' }).click()
  await page.getByText('Neuer Geheimschlüssel. Kopieren Sie ihn jetzt; der alte gilt noch 7 Tage.').waitFor()
  await page.getByText('Nicht verwendet, kann also widerrufen werden.').waitFor()
  t.equal(await statusWith(portal, secretKey), 200)
  await page.getByText('Noch in Gebrauch, zuletzt gerade eben von 127.0.0.1.').waitFor()
  t.strictSame(await findBarriers(page), [])
})

test('who reads German gets a further key, or learns in German why not', async (t, portal) => {
  const { page } = await createGerman(portal)
  const card = page.locator('#further-keys')
  const create = async (quota: string) => {
    await card.getByText('Schlüssel erstellen…').click()
    await card.getByLabel('Name', { exact: true }).fill(`ci-${quota.replace('/', '-')}`)
    await card.getByLabel('Kontingent').fill(quota)
    await card.getByLabel('Ihr Passwort').last().fill(goodPassword)
    await card.getByRole('button', { name: 'Erstellen', exact: true }).click()
  }
  for (const [quota, shown] of [
    ['1/day', '1 Anfrage pro Tag'],
    ['1000/month', '1.000 Anfragen pro Monat'],
  ] as const) {
    await create(quota)
    await card.getByText('Er wird nicht noch einmal angezeigt.').waitFor()
    await card.getByText(shown, { exact: true }).waitFor()
    await page.goto(`${portal.url}/portal/integration`)
  }
  await page.evaluate("document.querySelector('#new-key-lifetimeDays option:checked').value = 'soon'")
  await create('2/day')
  await card.getByText('Wählen Sie, wann der Schlüssel abläuft.').waitFor()
  t.strictSame(await findBarriers(page), [])
})

test('who reads German tries a route in German', async (t, portal) => {
  const { page } = await createGerman(portal)
  const card = page.locator('#try-it')
  await card.getByText('Methode, Pfad und Inhalt').click()
  await card.getByLabel('Rest des Pfads').fill('42')
  await card.getByRole('button', { name: 'Anfrage senden' }).click()
  await card.getByText('Beginnen Sie den Pfad unterhalb von /any mit / oder ?').waitFor()
  await card.getByLabel('Rest des Pfads').fill('')
  await card.getByRole('button', { name: 'Anfrage senden' }).click()
  await card.getByRole('heading', { name: 'Beim Backend angekommen' }).waitFor()
  t.match(await card.locator('.row').first().textContent(), /GET \/any · mit dem Geheimschlüssel · \d+ ms$/)
})

/** Somebody whose browser asks for German, on the page of the keys. */
async function createGerman(portal: Portal): Promise<Person> {
  const person = await portal.createPerson()
  await person.page.setExtraHTTPHeaders({ 'Accept-Language': 'de-AT, en;q=0.5' })
  await person.page.goto(`${portal.url}/portal/integration`)
  return person
}
