import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** What keeps the page, as it is now, from being used by everyone: WCAG 2.2 A and AA, and good practice. */
export async function findBarriers(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source)
  // The cast is sound: the line above has put it there.
  const results = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run())
  return results.violations.map(({ id, help, nodes }) => {
    const places = nodes.map(({ target, failureSummary }) => `${target.join(' ')}: ${failureSummary}`)
    return `${id}: ${help} (${places.join('; ')})`
  })
}

/** How far the page is wider than the window, in pixels. */
export function overhang(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
}
