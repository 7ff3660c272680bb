import { readFileSync, writeFileSync } from 'node:fs'
import { cliPage } from './generator/cli.ts'
import { configurationPage } from './generator/configuration.ts'
import { dashboardJson } from './generator/dashboard/dashboard.ts'
import { failureModesPage } from './generator/failure-modes.ts'
import { manPage } from './generator/man-page.ts'
import { metricsPage } from './generator/metrics.ts'

/** Files generated from the code: `npm run docs` writes them, `npm run docs -- --check` fails if one is stale. */

const files = {
  'docs/cli.md': cliPage,
  'docs/gatehouse.1': manPage,
  'docs/configuration.md': configurationPage,
  'docs/failure-modes.md': failureModesPage,
  'docs/metrics.md': metricsPage,
  'deploy/dashboards/grafana.json': dashboardJson,
}

const isCheck = process.argv.includes('--check')
const stale: string[] = []

for (const [name, make] of Object.entries(files)) {
  const file = new URL(`../${name}`, import.meta.url)
  const text = await make()
  if (!isCheck) writeFileSync(file, text)
  else if (readOrNothing(file) !== text) stale.push(name)
}

if (stale.length > 0) {
  console.error(`stale: ${stale.join(', ')}; run: npm run docs`)
  process.exitCode = 1
}

function readOrNothing(file: URL): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
