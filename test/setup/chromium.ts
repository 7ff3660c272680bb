import { type Browser, chromium } from 'playwright-core'
import type { Test } from 'tap'
import { isExecutable, MissingProgram, placesOf } from './missing-program.ts'
import { chromiumNames } from './programs.ts'

// needs: chromium

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
]

/** Starts the browser of this machine. @throws MissingProgram where there is none */
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
  const found = chromiumNames.flatMap(placesOf).find(isExecutable)
  if (found === undefined) throw new MissingProgram('chromium')
  return found
}
