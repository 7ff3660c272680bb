import { readFileSync } from 'node:fs'
import t from 'tap'

/** Figures that a text has from a constant of the sources: they must not drift apart. */
const figures: readonly (readonly [text: string, pattern: RegExp, source: string, constant: RegExp])[] = [
  [
    'docs/decisions/0015-own-http-server.md',
    /follow each other, at most (\S+)\. /,
    'src/http1/deferred-writes.ts',
    /batchMax = (\S+)/,
  ],
  [
    'docs/decisions/0015-own-http-server.md',
    /Of up to (\S+)\s+paths without a query/,
    'src/http/known-destinations.ts',
    /placesMax = (\S+)/,
  ],
  [
    'docs/operating.md',
    /repeated request lines \|.*?\| (\S+) of/,
    'src/http1/line-cache.ts',
    /placesMax = (\S+)/,
  ],
  [
    'docs/operating.md',
    /destinations of paths \|.*?\| (\S+) of/,
    'src/http/known-destinations.ts',
    /placesMax = (\S+)/,
  ],
  [
    'docs/operating.md',
    /repeated request lines .* one of the (\S+) that share/,
    'src/platform/set-cache.ts',
    /ways = (\S+)/,
  ],
  [
    'docs/operating.md',
    /destinations of paths .* one of the (\S+) that share/,
    'src/platform/set-cache.ts',
    /ways = (\S+)/,
  ],
  ['src/http1/head-cache.ts', /find one of the (\S+) that/, 'src/platform/set-cache.ts', /ways = (\S+)/],
  [
    'docs/operating.md',
    /slot can be moved[\s\S]*?longer than (\S+) ms/,
    'src/store/open.ts',
    /request: (\S+),/,
  ],
]
const words: Readonly<Record<string, string>> = { eight: '8' }

for (const [text, pattern, source, constant] of figures) {
  t.test(`${text} has the figure that ${source} has: ${pattern.source}`, async (t) => {
    const said = pattern.exec(readFileSync(text, 'utf8'))?.[1] ?? ''
    const meant = constant.exec(readFileSync(source, 'utf8'))?.[1]
    t.equal(words[said] ?? said.replaceAll(',', ''), meant?.replaceAll('_', ''))
  })
}
