import { watch as watchFolder } from 'node:fs'
import { sep } from 'node:path'
import { forget, sourcesOf } from './declarations.ts'
import type { RunnerOptions } from './options.ts'
import { runLayer } from './run-layer.ts'
import { selectFiles } from './select.ts'
import { summaryOf } from './summary.ts'

/** What an editor writes at once is one change. */
const settleMs = 100

const watched = ['src', 'test', 'bench']

/**
 * After each change, runs the quick tests that import what has changed, directly or through others. What they start as
 * a program, or read as a file, is not seen. Ends with the process.
 */
export async function watch({ parts, jobs }: RunnerOptions): Promise<never> {
  const changed = new Set<string>()
  let wake = () => {}
  for (const folder of watched) {
    watchFolder(folder, { recursive: true }, (_, name) => {
      if (!name?.endsWith('.ts')) return
      changed.add(`${folder}/${name.replaceAll(sep, '/')}`)
      wake()
    })
  }
  console.log(
    'Waiting for changes. Tests that start the gateway as a program are not among those that run: `npm test`.',
  )
  for (;;) {
    if (changed.size === 0) await new Promise<void>((resolve) => (wake = resolve))
    await new Promise((resolve) => setTimeout(resolve, settleMs))
    const sources = [...changed]
    changed.clear()
    await runTouched(sources, parts, jobs)
  }
}

async function runTouched(sources: readonly string[], parts: readonly string[], jobs: number): Promise<void> {
  for (const source of sources) forget(source)
  const files = touchedBy(sources, selectFiles(parts, 'quick').files)
  console.log(`\n${sources.join(', ')}: ${files.length} test files`)
  if (files.length > 0)
    console.log(`\n${summaryOf(await runLayer(files, { jobs, install: false, say: console.log }))}`)
}

/** Selects the test files that import one of the sources, or are one. */
export function touchedBy(sources: readonly string[], files: readonly string[]): readonly string[] {
  return files.filter((file) => {
    const imported = sourcesOf(file)
    return sources.some((source) => imported.has(source))
  })
}
