import t from 'tap'
import { startChromium } from '../setup/chromium.ts'
import { showStates } from './show-states.ts'
import { states } from './states.ts'
import { overhang } from './support/axe.ts'

t.test('no page in any state scrolls sideways, down to the narrowest phone', async (t) => {
  const { url, close } = await showStates()
  t.teardown(close)
  const browser = await startChromium(t)
  const page = await browser.newPage()
  for (const name of Object.keys(states)) {
    await page.goto(`${url}/${name}`)
    for (const width of [320, 375, 768, 1200]) {
      await page.setViewportSize({ width, height: 700 })
      t.equal(await overhang(page), 0, `${name} at ${width}`)
    }
  }
})
