import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import type { Test } from 'tap'

/**
 * What the browser may be called; the first that is found is taken. First the one without a user interface of its own:
 * the tests of the portal need a third less CPU with it.
 */
export const chromiumNames: readonly string[] = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'Chromium',
]

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
]

/** Starts the browser of this machine. @throws Error where there is none */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: findChromium(), args: flags })
}

/** A browser that is gone with the test. */
export async function startChromium(t: Test): Promise<Browser> {
  const browser = await launchChromium()
  t.teardown(() => browser.close())
  return browser
}

function findChromium(): string {
  const folders = (process.env.PATH ?? '').split(':')
  const places = chromiumNames.flatMap((name) => folders.map((folder) => join(folder, name)))
  const found = places.find(isExecutable)
  if (found === undefined) throw new Error(`none of ${chromiumNames.join(', ')} is on PATH`)
  return found
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
