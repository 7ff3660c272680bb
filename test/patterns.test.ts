import { existsSync, globSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { parse } from 'acorn'
import t, { type Test } from 'tap'

/** A regular expression of the sources. */
interface Pattern {
  readonly source: string
  readonly flags: string
  /** Such as `src/gateway/routes/table.ts:12`. */
  readonly at: string
}

/** How long one may take to be checked: what takes longer has not passed. */
const timeoutMs = 30_000

// Compiled where npm has that for this machine, else in JavaScript, which takes a dozen times as long.
process.env.RECHECK_BACKEND = isCompiled() ? 'native' : 'pure'

const made = recordMade()
const { check: recheck } = await import('recheck')

/** Those that are written as literals, and the places where others are made of texts. */
function readSources() {
  const literals: Pattern[] = []
  const places: string[] = []
  for (const file of globSync('src/**/*.{ts,js}').toSorted()) {
    const text = readFileSync(file, 'utf8')
    const script = file.endsWith('.ts') ? stripTypeScriptTypes(text) : text
    visit(parse(script, { ecmaVersion: 'latest', sourceType: 'module', locations: true }), (node) => {
      const at = `${file}:${node.loc?.start.line}`
      if (node.regex) literals.push({ source: node.regex.pattern, flags: node.regex.flags, at })
      const isMade = node.type === 'NewExpression' || node.type === 'CallExpression'
      if (isMade && node.callee?.name === 'RegExp') places.push(at)
    })
  }
  return { literals, places }
}

interface SyntaxNode {
  readonly type?: string
  readonly loc?: { readonly start: { readonly line: number } } | null
  readonly regex?: { readonly pattern: string; readonly flags: string }
  readonly callee?: { readonly name?: string }
}

function visit(node: unknown, onNode: (node: SyntaxNode) => void): void {
  if (typeof node !== 'object' || node === null) return
  // The cast is sound: all of its properties are optional, and acorn writes them.
  if ('type' in node) onNode(node as SyntaxNode)
  for (const child of Object.values(node)) visit(child, onNode)
}

/** Those that are made of texts from now on, by the sources or a library that they call. */
function recordMade(): readonly Pattern[] {
  const patterns: Pattern[] = []
  globalThis.RegExp = new Proxy(RegExp, {
    construct(target, [source, flags = '']: [RegExp | string, string?], newTarget) {
      const [, at = ''] = /\/(src\/[^:]+:\d+)/.exec(new Error().stack ?? '') ?? []
      const text = typeof source === 'string' ? source : source.source
      if (at !== '') patterns.push({ source: text, flags, at })
      return Reflect.construct(target, [source, flags], newTarget)
    },
  })
  return patterns
}

t.test('every regular expression takes no longer than its input is long', async (t) => {
  const { literals, places } = readSources()
  t.ok(literals.length > 100)
  await makeThem(t)
  t.strictSame(
    places.filter((place) => !made.some(({ at }) => at === place)),
    [],
    'each is made, so that it can be checked',
  )
  const byText = Map.groupBy([...literals, ...made], ({ source, flags }) => `/${source}/${flags}`)
  for (const [text, [first]] of byText) {
    if (first === undefined || !isUnbounded(first.source)) continue
    const found = await check(first)
    if (found.status === 'safe') continue
    const what = found.status === 'vulnerable' ? found.complexity.summary : found.error.kind
    t.fail(`${first.at}: ${text}: ${what}`)
  }
})

/** Whether something in it may come any number of times: else it looks at a few characters from each place. */
function isUnbounded(source: string): boolean {
  const plain = source.replaceAll(/\\./g, 'a').replaceAll(/\[[^\]]*\]/g, 'a')
  return /[*+]|\{\d+,\}/.test(plain)
}

/** Proves it where that is possible; what has assertions is tried with texts that are made for it. */
async function check({ source, flags }: Pattern) {
  const proved = await recheck(source, flags, { checker: 'automaton', timeout: timeoutMs })
  return proved.status === 'unknown' && proved.error.kind === 'unsupported'
    ? recheck(source, flags, { checker: 'fuzz', timeout: timeoutMs })
    : proved
}

function isCompiled(): boolean {
  const systems: Readonly<Record<string, string>> = { linux: 'linux', darwin: 'macos', win32: 'windows' }
  return existsSync(`node_modules/recheck-${systems[process.platform]}-${process.arch}`)
}

/** Loads all modules, and makes those that a config makes. */
async function makeThem(t: Test): Promise<void> {
  const { startGateway } = await import('./setup/gateway.ts')
  await startGateway(t, {
    config: { accessCookie: { enabled: true } },
  })
  // The pattern of a longer secret has the same form, but takes longer to check.
  const { hideKnownSecrets } = await import('#platform/secrets/hide-secrets.ts')
  hideKnownSecrets('a text', [{ text: 'g_1', placeholder: '' }])
}
