import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** What keeps the page, as it is now, from being used by everyone: WCAG 2.2 A and AA, and good practice. */
export async function findBarriers(page: Page): Promise<readonly string[]> {
  // Colours on their way from one to another are of neither.
  await page.evaluate('for (const each of document.getAnimations()) each.finish()')
  await page.evaluate(axe.source)
  // The cast is sound: the line above has put it there.
  const results = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run())
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
    return ${JSON.stringify(widths)}.flatMap((width) => {
      frame.style.width = width + 'px'
      const wider = root.scrollWidth - root.clientWidth
      const outside = [...root.querySelectorAll('.card *')].find(isOutside)
      return [
        ...(wider > 0 ? ['scrolls by ' + wider + ' at ' + width] : []),
        ...(outside ? [outside.outerHTML.slice(0, 60) + ' at ' + width] : []),
      ]
    })
    // What a part of the card scrolls, cuts off or keeps for those who hear the page is not outside.
    function isOutside(part) {
      for (let at = part; !at.matches('.card'); at = at.parentElement)
        if (at !== part && view.getComputedStyle(at).overflowX !== 'visible') return false
      if (part.closest('.visually-hidden, thead')) return false
      const [own, card] = [part, part.closest('.card')].map((box) => box.getBoundingClientRect())
      return own.width > 0 && (own.left < card.left - 1 || own.right > card.right + 1)
    }
  })()`)
}
