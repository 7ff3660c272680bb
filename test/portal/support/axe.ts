import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type axe from 'axe-core'
import type { CDPSession, Page } from 'playwright-core'

const axeSource = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
/** Sessions that end with their page: to end one ends what others have set up, such as devices for passkeys. */
const devToolsOf = new WeakMap<Page, CDPSession>()

/** What keeps the page, as it is now, from being used by everyone: WCAG 2.2 A and AA, and good practice. */
export async function findBarriers(page: Page): Promise<readonly string[]> {
  // Colours on their way from one to another are of neither.
  await page.evaluate('for (const each of document.getAnimations()) each.finish()')
  // `page.evaluate` would have it compiled anew for each page.
  const devTools = devToolsOf.get(page) ?? (await page.context().newCDPSession(page))
  devToolsOf.set(page, devTools)
  await devTools.send('Runtime.evaluate', { expression: axeSource, returnByValue: true })
  const results = await page.evaluate(() =>
    // The cast is sound: the lines above have put it there.
    (globalThis as unknown as { axe: typeof axe }).axe.run({ resultTypes: ['violations'] }),
  )
  return results.violations.map(({ id, help, nodes }) => {
    const places = nodes.map(({ target, failureSummary }) => `${target.join(' ')}: ${failureSummary}`)
    return `${id}: ${help} (${places.join('; ')})`
  })
}

/**
 * Shows a page in a frame as wide as each of the windows: all of them in one step, which takes a moment alone.
 * @returns at which widths it scrolls sideways, and the first part that is outside its card there
 */
export function findOverflow(page: Page, url: string, widths: readonly number[]): Promise<readonly string[]> {
  return page.evaluate(`(async () => {
    const frame = document.createElement('iframe')
    frame.style = 'border: 0; height: 700px'
    frame.src = ${JSON.stringify(url)}
    const isLoaded = new Promise((done) => frame.addEventListener('load', done))
    document.body.replaceChildren(frame)
    await isLoaded
    const { contentDocument: { documentElement: root }, contentWindow: view } = frame
    const parts = [...root.querySelectorAll('.card *')].filter(isSeen)
    return ${JSON.stringify(widths)}.flatMap((width) => {
      frame.style.width = width + 'px'
      const wider = root.scrollWidth - root.clientWidth
      const outside = parts.find(isOutside)
      return [
        ...(wider > 0 ? ['scrolls by ' + wider + ' at ' + width] : []),
        ...(outside ? [outside.outerHTML.slice(0, 60) + ' at ' + width] : []),
      ]
    })
    function isSeen(part) {
      return !part.closest('.visually-hidden, thead')
    }
    // What a part of the card scrolls or cuts off is not outside.
    function isOutside(part) {
      const [own, card] = [part, part.closest('.card')].map((box) => box.getBoundingClientRect())
      if (own.width === 0 || (own.left >= card.left - 1 && own.right <= card.right + 1)) return false
      for (let at = part; !at.matches('.card'); at = at.parentElement)
        if (at !== part && view.getComputedStyle(at).overflowX !== 'visible') return false
      return true
    }
  })()`)
}
