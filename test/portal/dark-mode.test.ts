import t from 'tap'
import { startChromium } from '../setup/chromium.ts'
import { states } from './page-states.ts'
import { showStates } from './serve-page-states.ts'
import { findBarriers } from './support/axe.ts'

t.test('every portal page passes the accessibility checks in dark mode, on a phone too', async (t) => {
  const { url, close } = await showStates()
  t.teardown(close)
  const browser = await startChromium(t)
  const page = await browser.newPage({ colorScheme: 'dark', viewport: { width: 375, height: 700 } })
  for (const name of Object.keys(states)) {
    await page.goto(`${url}/${name}`)
    t.strictSame(await findBarriers(page), [], name)
  }
})
