import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * What a test file says about itself, in lines of comment that it or a helper it imports may have:
 *
 * - `// needs: nginx, curl`: programs that are not npm's (`test/setup/programs.ts` says how to get them),
 * - `// slow: why`: takes longer than one waits for between two changes,
 * - `// alone: why`: cannot share a process, nor the machine, with other tests.
 */
export interface Declarations {
  readonly needs: readonly string[]
  readonly slow: boolean
  readonly alone: boolean
}

export function declarationsOf(file: string): Declarations {
  const lines = [...sourcesOf(file)].filter((source) => /^(?:test|bench)\//.test(source)).flatMap(linesOf)
  const valuesOf = (name: string) => lines.flatMap(([key, value]) => (key === name ? value.split(/, */) : []))
  return {
    needs: [...new Set(valuesOf('needs'))].toSorted(),
    slow: valuesOf('slow').length > 0,
    alone: valuesOf('alone').length > 0,
  }
}

/** The file, and every source that it imports, directly or through others. */
export function sourcesOf(file: string, seen: Set<string> = new Set()): ReadonlySet<string> {
  if (seen.has(file)) return seen
  seen.add(file)
  for (const imported of read(file).imports) sourcesOf(imported, seen)
  return seen
}

function linesOf(file: string): readonly Line[] {
  return read(file).lines
}

type Line = readonly [name: string, value: string]

interface Source {
  readonly imports: readonly string[]
  readonly lines: readonly Line[]
}

const sources = new Map<string, Source>()

/** After a file has changed. */
export function forget(file: string): void {
  sources.delete(file)
}

function read(file: string): Source {
  const known = sources.get(file)
  if (known) return known
  const text = textOf(file)
  const source = {
    imports: [...text.matchAll(/(?:\bfrom|\bimport) ?\(?'(\.[^']+\.ts)'/g)].map(([, name = '']) =>
      join(dirname(file), name),
    ),
    lines: [...text.matchAll(/^\/\/ (needs|slow|alone): (.+)$/gm)].map(
      ([, name = '', value = '']) => [name, value] as const,
    ),
  }
  sources.set(file, source)
  return source
}

/** Nothing where it is not there: imports within texts look like those of the file. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
