import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import t from 'tap'
import { startChromium } from '../setup/chromium.ts'
import { states } from './page-states.ts'
import { showStates } from './serve-page-states.ts'
import { findBarriers, findOverflow } from './support/axe.ts'

// Some seventy states in two languages, on a busy machine.
t.setTimeout(600_000)

/** How every page looks in every state: one server and one browser for all tests. */
const { url, close } = await showStates()
t.teardown(close)
const browser = await startChromium(t)

t.test('every portal page in every state passes the accessibility checks', async (t) => {
  const page = await browser.newPage({ colorScheme: 'light', viewport: { width: 1200, height: 800 } })
  for (const name of Object.keys(states)) {
    await page.goto(`${url}/${name}`)
    t.strictSame(await findBarriers(page), [], name)
  }
})

t.test('the accessibility checks find known violations', async (t) => {
  const page = await browser.newPage()
  await page.setContent(
    '<html lang="en"><title>x</title><main><h1>x</h1><input><p style="color:#ccc">pale</p></main>',
  )
  t.match(await findBarriers(page), [/^color-contrast: /, /^label: /])
})

t.test(
  'every portal page passes the accessibility checks in German, in dark mode and on a phone too',
  async (t) => {
    const page = await browser.newPage({ colorScheme: 'dark', viewport: { width: 375, height: 700 } })
    for (const name of Object.keys(states)) {
      await page.goto(`${url}/de/${name}`)
      t.strictSame(await findBarriers(page), [], name)
    }
  },
)

t.test('the buttons of a code block stand together at its end', async (t) => {
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

t.test('forced colours leave visible what is selected, and what opens', async (t) => {
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
  const page = await browser.newPage({ viewport: { width: 320, height: 700 } })
  await page.goto(`${url}/accounts`)
  t.ok(Number(await page.evaluate(leastGap)) >= 6)
  await page.goto(`${url}/integration`)
  t.strictSame(await page.evaluate(maskedLines), [1, 1])
  t.ok(Number(await page.evaluate(emptyBelowKeys)) < 10, 'without an empty line below it')
})

t.test('what can be done to a further key opens as wide as its card, on every screen', async (t) => {
  for (const width of [390, 768, 1_024, 1_280, 1_920]) {
    const page = await browser.newPage({ viewport: { width, height: 900 } })
    for (const name of ['integration-further-keys', 'account']) {
      await page.goto(`${url}/${name}`)
      const card = page.locator('#further-keys')
      const summaries = card.locator('tbody summary')
      for (const summary of await summaries.all()) await summary.click()
      const least = Number((await card.boundingBox())?.width) - 64
      for (const form of await card.locator('tbody form').all()) {
        const box = await form.boundingBox()
        t.ok(Number(box?.width) >= least, `${name} at ${width}: ${box?.width} of ${least}`)
      }
      t.ok((await summaries.count()) >= 3)
    }
  }
})

/** What is beside the contents of a card: its borders and margins; on wide viewports the navigation too. */
const besideCards = [34, 306]

/** Both sides of each width at which the style sheets change something, and the narrowest and widest that are tried. */
function breakpoints(): readonly number[] {
  const css = ['src/platform/pages/assets', 'src/portal/assets'].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.css'))
      .map((name) => readFileSync(join(folder, name), 'utf8')),
  )
  const changes = css.flatMap((text) => [
    ...text.matchAll(/@(media|container)[^{]*\((?:min|max)-width: ([\d.]+)rem\)/g),
  ])
  const edges = changes.flatMap(([, of, rem]) => {
    const width = Math.floor(Number(rem) * 16)
    return of === 'media'
      ? [width, width + 1]
      : besideCards.flatMap((beside) => [-1, 0, 1, 2].map((by) => width + beside + by))
  })
  return [...new Set([320, ...edges, 1_280])].toSorted((one, other) => one - other)
}

t.test('cards are as wide as the breakpoints are reckoned with', async (t) => {
  const page = await browser.newPage()
  for (const [width, beside] of [
    [738, besideCards[0]],
    [1_010, besideCards[1]],
  ] as const) {
    await page.setViewportSize({ width, height: 700 })
    await page.goto(`${url}/accounts`)
    t.equal(await page.evaluate("document.querySelector('.card').clientWidth"), width - (beside ?? 0))
  }
})

t.test(
  'no page scrolls sideways at any width where something changes, and nothing is outside its card',
  async (t) => {
    const page = await browser.newPage({ viewport: { width: 1300, height: 800 } })
    await page.goto(`${url}/sign-in`)
    const widths = breakpoints()
    t.ok(widths.length > 20, String(widths))
    for (const name of Object.keys(states).flatMap((name) => [name, `de/${name}`])) {
      t.strictSame(await findOverflow(page, `${url}/${name}`, widths), [], name)
    }
  },
)

t.test(
  'the password beside a button on an own account has room, and the button is one line high',
  async (t) => {
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
