import { readFileSync, writeFileSync } from 'node:fs'
import { configurationPage } from './generator/configuration.ts'
import { failureModesPage } from './generator/failure-modes.ts'
import { metricsPage } from './generator/metrics.ts'

/** Pages made from the code: `npm run docs` writes them, `npm run docs:check` fails when one is stale. */

const pages = {
  'configuration.md': configurationPage,
  'failure-modes.md': failureModesPage,
  'metrics.md': metricsPage,
}

const isCheck = process.argv.includes('--check')
const stale: string[] = []

for (const [name, make] of Object.entries(pages)) {
  const file = new URL(name, import.meta.url)
  const text = await make()
  if (!isCheck) writeFileSync(file, text)
  else if (readOrNothing(file) !== text) stale.push(name)
}

if (stale.length > 0) {
  console.error(`stale: ${stale.map((name) => `docs/${name}`).join(', ')}; run: npm run docs`)
  process.exitCode = 1
}

function readOrNothing(file: URL): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
