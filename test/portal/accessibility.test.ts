import t from 'tap'
import { startChromium } from '../setup/chromium.ts'
import { states } from './page-states.ts'
import { showStates } from './serve-page-states.ts'
import { findBarriers } from './support/axe.ts'

t.test('every portal page in every state passes the accessibility checks', async (t) => {
  const { url, close } = await showStates()
  t.teardown(close)
  const browser = await startChromium(t)
  const page = await browser.newPage({ colorScheme: 'light', viewport: { width: 1200, height: 800 } })
  for (const name of Object.keys(states)) {
    await page.goto(`${url}/${name}`)
    t.strictSame(await findBarriers(page), [], name)
  }
})

t.test('the accessibility checks find known violations', async (t) => {
  const browser = await startChromium(t)
  const page = await browser.newPage()
  await page.setContent(
    '<html lang="en"><title>x</title><main><h1>x</h1><input><p style="color:#ccc">pale</p></main>',
  )
  t.match(await findBarriers(page), [/^color-contrast: /, /^label: /])
})
