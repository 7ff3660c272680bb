import type { Page } from 'playwright-core'
import t from 'tap'
import { startChromium } from '../setup/chromium.ts'
import { showStates } from './serve-page-states.ts'

t.test('forced colours leave visible what is selected, and what opens', async (t) => {
  const { url, close } = await showStates()
  t.teardown(close)
  const browser = await startChromium(t)
  const page = await browser.newPage({ forcedColors: 'active' })
  await page.goto(`${url}/integration-refused`)
  const [chosen, other] = [await styleOf(page, '.tabs :checked + label'), await styleOf(page, '[for=tab-1]')]
  t.not(chosen.borderBottomColor, other.borderBottomColor, 'the language')
  t.equal((await styleOf(page, '.nav a[aria-current]')).outlineStyle, 'solid', 'the page')
  t.equal((await styleOf(page, '.nav a:not([aria-current])')).outlineStyle, 'none')
  t.equal((await styleOf(page, '.choices label:has(:checked)')).outlineStyle, 'solid', 'the overlap')
  t.equal((await styleOf(page, '.choices label:not(:has(:checked))')).outlineStyle, 'none')
  t.equal((await styleOf(page, 'select')).appearance, 'auto', 'a list has its arrow')
})

function styleOf(page: Page, selector: string): Promise<Record<string, string>> {
  return page.evaluate(`(() => {
    const { borderBottomColor, outlineStyle, appearance } = getComputedStyle(document.querySelector('${selector}'))
    return { borderBottomColor, outlineStyle, appearance }
  })()`)
}
