import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * What a test file says about itself, in lines of comment that it or a helper it imports may have:
 *
 * - `// needs: nginx, curl`: programs that are not npm's, without which it is skipped (`test/setup/programs.ts`),
 * - `// uses: redis-server`: the same, but it looks for them itself, and skips only the cases that need them,
 * - `// slow: why`: takes longer than one waits for between two changes,
 * - `// timed: why`: takes the time or memory of what it runs, which coverage would change: V8 does not count there,
 * - `// alone: why`: cannot share a process, nor the machine, with other tests.
 */
export interface Declarations {
  readonly needs: readonly string[]
  readonly uses: readonly string[]
  readonly slow: boolean
  readonly timed: boolean
  readonly alone: boolean
}

export function declarationsOf(file: string): Declarations {
  const lines = [...sourcesOf(file)].filter((source) => /^(?:test|bench)\//.test(source)).flatMap(linesOf)
  const valuesOf = (name: string) => lines.filter(([key]) => key === name).map(([, value]) => value)
  const namesOf = (name: string) =>
    [...new Set(valuesOf(name).flatMap((value) => value.split(/, */)))].toSorted()
  return {
    needs: namesOf('needs'),
    uses: namesOf('uses'),
    slow: valuesOf('slow').length > 0,
    timed: valuesOf('timed').length > 0,
    alone: valuesOf('alone').length > 0,
  }
}

/** Every program of another kind than npm's packages. */
export function programsOf(file: string): readonly string[] {
  const { needs, uses } = declarationsOf(file)
  return [...needs, ...uses]
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
    imports: [...text.matchAll(/(?:\bfrom|\bimport) ?\(?'([.#][^']+\.ts)'/g)].map(([, name = '']) =>
      name.startsWith('#') ? join('src', name.slice(1)) : join(dirname(file), name),
    ),
    lines: [...text.matchAll(/^\/\/ (needs|uses|slow|timed|alone): (.+)$/gm)].map(
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
