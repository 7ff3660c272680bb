import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { launchChromium } from '../setup/chromium.ts'
import { writeDocPictures } from './doc-pictures.ts'
import { states } from './page-states.ts'
import { showStates } from './serve-page-states.ts'

/**
 * Writes a picture of every page in every state: light, dark, on a phone, and in German.
 * `node test/portal/screenshots.ts [FOLDER [STATE …]]`; with `docs/images` it writes those of the README instead.
 */
const [folder = 'screenshots', ...wanted] = process.argv.slice(2)

const looks = {
  light: { colorScheme: 'light', viewport: { width: 1200, height: 800 } },
  dark: { colorScheme: 'dark', viewport: { width: 1200, height: 800 } },
  phone: { colorScheme: 'light', viewport: { width: 375, height: 740 } },
  'phone-dark': { colorScheme: 'dark', viewport: { width: 375, height: 740 } },
  german: { colorScheme: 'light', viewport: { width: 1200, height: 800 } },
  'german-phone': { colorScheme: 'light', viewport: { width: 375, height: 740 } },
} as const

const { url, close } = await showStates()
const browser = await launchChromium()
if (folder === 'docs/images') {
  await writeDocPictures(browser, url, folder)
  await browser.close()
  close()
  process.exit()
}
const names = Object.keys(states).filter((name) => wanted.length === 0 || wanted.includes(name))
mkdirSync(folder, { recursive: true })
for (const [look, options] of Object.entries(looks)) {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  for (const name of names) {
    await page.goto(`${url}/${look.startsWith('german') ? 'de/' : ''}${name}`)
    await page.screenshot({ path: join(folder, `${name}.${look}.png`), fullPage: true })
  }
  await context.close()
}
await browser.close()
close()
console.log(
  `${names.length * Object.keys(looks).length} pictures of ${names.length} states are in ${folder}/`,
)
