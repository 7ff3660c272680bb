import t from 'tap'
import { startChromium } from '../setup/chromium.ts'
import { states } from './page-states.ts'
import { showStates } from './serve-page-states.ts'
import { findOverflow } from './support/axe.ts'

/** The smallest distance between neighbouring texts of a list, in pixels. */
const leastGap = `(() => {
  const places = [...document.querySelectorAll('.nav span')].map((text) => text.getBoundingClientRect())
  return Math.min(...places.slice(1).map(({ left }, index) => left - places[index].right))
})()`

/** The heights of masked keys, in lines. */
const maskedLines = `[...document.querySelectorAll('.masked > code')].map((code) => {
  const { height } = code.getBoundingClientRect()
  return Math.floor(height / parseFloat(getComputedStyle(code).lineHeight))
})`

/** How much room is below a masked key in its box, in pixels; the most of it. */
const emptyBelowKeys = `Math.max(...[...document.querySelectorAll('.masked > code')].map((code) =>
  code.parentElement.getBoundingClientRect().bottom - code.getBoundingClientRect().bottom))`

t.test('on the narrowest phone nothing touches, and the box of a masked key is one line', async (t) => {
  const { url, close } = await showStates()
  t.teardown(close)
  const browser = await startChromium(t)
  const page = await browser.newPage({ viewport: { width: 320, height: 700 } })
  await page.goto(`${url}/accounts`)
  t.ok(Number(await page.evaluate(leastGap)) >= 6)
  await page.goto(`${url}/integration`)
  t.strictSame(await page.evaluate(maskedLines), [1, 1])
  t.ok(Number(await page.evaluate(emptyBelowKeys)) < 10, 'without an empty line below it')
})

/** Each width at which something changes is between two of these. */
const widths = Array.from({ length: 97 }, (_, index) => 320 + index * 10)

t.test('no page scrolls sideways at any width, and nothing is outside its card', async (t) => {
  const { url, close } = await showStates()
  t.teardown(close)
  const browser = await startChromium(t)
  const page = await browser.newPage({ viewport: { width: 1300, height: 800 } })
  await page.goto(`${url}/sign-in`)
  for (const name of Object.keys(states)) {
    t.strictSame(await findOverflow(page, `${url}/${name}`, widths), [], name)
  }
})

t.test(
  'the password beside a button on an own account has room, and the button is one line high',
  async (t) => {
    const { url, close } = await showStates()
    t.teardown(close)
    const browser = await startChromium(t)
    for (const width of [320, 360, 1_200]) {
      const page = await browser.newPage({ viewport: { width, height: 700 } })
      await page.goto(`${url}/account-own`)
      const form = page.locator('form.inline').filter({ hasText: 'Mark as not verified' })
      const field = await form.getByLabel('Your password').boundingBox()
      const button = await form.getByRole('button').boundingBox()
      t.ok(Number(field?.width) >= 200, `the field at ${width} pixels: ${field?.width}`)
      t.ok(Number(button?.height) <= 40, `the button at ${width} pixels: ${button?.height}`)
    }
  },
)
