import t from 'tap'
import { startChromium } from '../setup/chromium.ts'
import { showStates } from './serve-page-states.ts'

t.test('the buttons of a code block stand together at its end', async (t) => {
  const { url, close } = await showStates()
  t.teardown(close)
  const browser = await startChromium(t)
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  await page.goto(`${url}/accounts-imported`)
  const boxOf = async (name: string) => page.getByRole('button', { name }).boundingBox()
  const [save, copy] = [await boxOf('Save'), await boxOf('Copy')]
  t.ok(save && copy && copy.x - (save.x + save.width) < 16)
  const said = await page
    .getByRole('status')
    .filter({ hasText: '2 accounts created. Show accounts' })
    .boundingBox()
  t.ok(said && said.height < 60, 'what was made, and the way on, is one line')
})
