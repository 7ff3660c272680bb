import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type CodePlaces, codePlacesOf } from './code-places.ts'

/** What of a source was run by any process. */
export interface FileCoverage {
  readonly file: string
  readonly lines: Share
  readonly branches: Share
  /** `absent`: no process has loaded it; `loaded`: it has functions, and none of them was called. */
  readonly use: 'entered' | 'loaded' | 'absent'
}

export interface Share {
  readonly covered: number
  readonly all: number
}

export interface Coverage {
  /** Files that hold nothing but types are left out. */
  readonly files: readonly FileCoverage[]
  readonly processes: number
  /** Of how many processes the file was cut off, as they were killed while they wrote it. */
  readonly unreadable: number
}

/** Of V8 (https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-ScriptCoverage), as far as it is used. */
interface ScriptCoverage {
  readonly url: string
  readonly functions: readonly { readonly ranges: readonly Range[] }[]
}

interface Range {
  readonly startOffset: number
  readonly endOffset: number
  readonly count: number
}

interface MeasuredFile {
  readonly file: string
  readonly places: CodePlaces
  /** By offset: 1 = some process has run it. */
  readonly run: Uint8Array
}

export interface CoverageMerger {
  /** @param text the file of one process */
  add(text: string): void
  result(): Coverage
}

/** The sources below `src/`, by their paths. */
export function readSources(root: string): ReadonlyMap<string, string> {
  const paths = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  return new Map(
    paths
      .filter((path) => path.endsWith('.ts'))
      .sort()
      .map((path) => [`src/${path}`, readFileSync(join(root, 'src', path), 'utf8')]),
  )
}

/**
 * Adds what processes with `NODE_V8_COVERAGE` have left in a folder, and removes it: each of them leaves some
 * megabytes. Those that are still running are not waited for.
 * @param writtenBefore milliseconds since 1970: what is younger is left, as it may still be written
 */
export function takeFolder(
  folder: string,
  merger: CoverageMerger,
  { writtenBefore = Number.POSITIVE_INFINITY } = {},
): void {
  for (const name of readdirSync(folder)) {
    if (!name.startsWith('coverage-') || !name.endsWith('.json')) continue
    const path = join(folder, name)
    if (statSync(path).mtimeMs > writtenBefore) continue
    merger.add(readFileSync(path, 'utf8'))
    rmSync(path)
  }
}

/**
 * Merges what V8 has counted in each process: something is covered if one of them has run it.
 * @param sources by their paths below `root`
 */
export function createCoverageMerger(sources: ReadonlyMap<string, string>, root: string): CoverageMerger {
  const rootUrl = pathToFileURL(`${root}/`).href
  const measured = new Map<string, MeasuredFile>()
  for (const [file, source] of sources) {
    const places = codePlacesOf(source)
    if (places.lines.length > 0)
      measured.set(rootUrl + file, { file, places, run: new Uint8Array(places.length) })
  }
  let processes = 0
  let unreadable = 0

  function add(text: string): void {
    processes++
    try {
      for (const { url, functions } of scriptsIn(text, `${rootUrl}src/`)) {
        // The same module may be loaded again with a query.
        const run = measured.get(url.replace(/[?#].*$/, ''))?.run
        if (run) markRun(run, functions)
      }
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      unreadable++
    }
  }

  return { add, result: () => ({ files: [...measured.values()].map(coverageOf), processes, unreadable }) }
}

const scriptStart = '{"scriptId":"'

/**
 * The scripts whose URLs begin so. Most of a file is about other scripts: it is not parsed. No text within JSON can look
 * like the beginning of a script, as its quotes would be escaped.
 */
function* scriptsIn(text: string, urlStart: string): Generator<ScriptCoverage> {
  if (!text.startsWith(`{"result":[`)) throw new SyntaxError('not a coverage file of V8')
  const wanted = `"url":${JSON.stringify(urlStart).slice(0, -1)}`
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + 1)) {
    const start = text.lastIndexOf(scriptStart, at)
    const next = text.indexOf(scriptStart, at)
    const end = next === -1 ? text.indexOf(']}]', at) + ']}'.length : next - ','.length
    // The cast is sound: V8 wrote it.
    yield JSON.parse(text.slice(start, end)) as ScriptCoverage
  }
}

/** Ranges are nested, and the innermost one says whether something was run. */
function markRun(run: Uint8Array, functions: ScriptCoverage['functions']): void {
  const ranges = functions
    .flatMap((each) => each.ranges)
    .sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset)
  const open: Range[] = []
  let at = 0
  function markTo(end: number): void {
    if ((open.at(-1)?.count ?? 0) > 0) run.fill(1, at, end)
    at = end
  }
  function closeBefore(offset: number): void {
    for (let last = open.at(-1); last !== undefined && last.endOffset <= offset; last = open.at(-1)) {
      markTo(last.endOffset)
      open.pop()
    }
  }
  for (const range of ranges) {
    closeBefore(range.startOffset)
    markTo(range.startOffset)
    open.push(range)
  }
  closeBefore(Number.POSITIVE_INFINITY)
}

function coverageOf({ file, places: { lines, branches, functions }, run }: MeasuredFile): FileCoverage {
  const isRun = (offset: number) => run[offset] === 1
  const shareOf = (offsets: readonly number[]) => ({
    covered: offsets.filter(isRun).length,
    all: offsets.length,
  })
  const isLoaded = run.includes(1)
  const isEntered = isLoaded && (functions.length === 0 || functions.some(isRun))
  return {
    file,
    lines: shareOf(lines),
    branches: shareOf(branches),
    use: isEntered ? 'entered' : isLoaded ? 'loaded' : 'absent',
  }
}

/** The two totals, and the files that no test enters. */
export function coverageSummary({ files, processes, unreadable }: Coverage): string {
  const cutOff = unreadable > 0 ? `, ${unreadable} of them cut off` : ''
  const left = files.filter(({ use }) => use !== 'entered')
  return [
    `Coverage of src/ by ${processes} processes${cutOff}: ${percent(files, 'lines')}, ${percent(files, 'branches')}`,
    ...(left.length > 0 ? [`No test enters (${left.length}):`] : []),
    ...left.map(({ file, use }) => `  ${file}${use === 'loaded' ? ' (loaded only)' : ''}`),
  ].join('\n')
}

function percent(files: readonly FileCoverage[], what: 'lines' | 'branches'): string {
  const all = files.reduce((sum, file) => sum + file[what].all, 0)
  const covered = files.reduce((sum, file) => sum + file[what].covered, 0)
  const share = all === 0 ? 100 : (100 * covered) / all
  return `${share.toFixed(1)} % of ${all} ${what}`
}
