import t from 'tap'
import { startChromium } from '../setup/chromium.ts'
import { showStates } from './show-states.ts'
import { states } from './states.ts'
import { findBarriers, overhang } from './support/axe.ts'

const { url, close } = await showStates()
t.teardown(close)

for (const colorScheme of ['light', 'dark'] as const) {
  t.test(`everyone can use every page in every state, ${colorScheme}`, async (t) => {
    const browser = await startChromium(t)
    const page = await browser.newPage({ colorScheme, viewport: { width: 1200, height: 800 } })
    for (const name of Object.keys(states)) {
      await page.goto(`${url}/${name}`)
      t.strictSame(await findBarriers(page), [], name)
    }
  })
}

t.test('no page scrolls sideways, down to the narrowest phone and up to a text twice as large', async (t) => {
  const browser = await startChromium(t)
  for (const width of [320, 375, 768, 1200]) {
    const page = await browser.newPage({ viewport: { width, height: 700 } })
    for (const name of Object.keys(states)) {
      await page.goto(`${url}/${name}`)
      t.equal(await overhang(page), 0, `${name} at ${width}`)
    }
    await page.close()
  }
})
