import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import Fastify from 'fastify'
import type { Browser } from 'playwright-core'
import { registerStatus } from '#api/status-page.ts'
import { sampleHour } from '../ops/status/sample-hour.ts'
import { portOf } from '../setup/net.ts'

/** The pictures of the README: of a screen each, as JPEG, so that they stay small. */
export async function writeDocPictures(browser: Browser, statesUrl: string, folder: string): Promise<void> {
  const app = Fastify()
  registerStatus(app, sampleHour)
  app.server.listen(0, '127.0.0.1')
  await Promise.all([once(app.server, 'listening'), app.ready()])
  const pages = {
    integration: `${statesUrl}/integration`,
    usage: `${statesUrl}/usage`,
    status: `http://127.0.0.1:${portOf(app.server)}/status`,
  }
  mkdirSync(folder, { recursive: true })
  const context = await browser.newContext({ colorScheme: 'light', viewport: { width: 1100, height: 760 } })
  const page = await context.newPage()
  for (const [name, url] of Object.entries(pages)) {
    await page.goto(url)
    await page.screenshot({ path: join(folder, `${name}.jpg`), type: 'jpeg', quality: 72 })
  }
  await context.close()
  await app.close()
}
