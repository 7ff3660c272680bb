import { readFileSync } from 'node:fs'
import t from 'tap'

/** Figures that a text has from a constant of the sources, or from another text: they must not drift apart. */
const figures: readonly (readonly [text: string, pattern: RegExp, source: string, constant: RegExp])[] = [
  [
    'docs/portal.md',
    /An account has at most (\S+)\. Each has a name/,
    'src/identity/second-factor/passkeys.ts',
    /passkeysMax = (\S+)/,
  ],
  ['docs/performance.md', /at most (\S+) at once: with/, 'src/http/turn.ts', /batchMax = (\S+)/],
  [
    'docs/operators/memory.md',
    /credentials accepted a moment ago .*?\| (\S+) and/,
    'src/identity/authenticator.ts',
    /acceptedBounds = \{ credentialsMax: ([\d_]+)/,
  ],
  [
    'docs/operators/memory.md',
    /tokens refused a moment ago .*?\| (\S+) and/,
    'src/identity/authenticator.ts',
    /refusedBounds = \{ credentialsMax: ([\d_]+)/,
  ],
  [
    'docs/operators/memory.md',
    /bodies of routes with `includeUsage` .*?(\S+) MiB each, /,
    'src/gateway/forward/held-bodies.ts',
    /heldBytesMax = (\S+) \* mebibyte/,
  ],
  [
    'docs/operators/memory.md',
    /bodies of routes with `includeUsage` .*?each, (\S+) MiB of one/,
    'src/gateway/forward/held-bodies.ts',
    /heldBytesOfCallerMax = (\S+) \* mebibyte/,
  ],
  [
    'docs/operators/memory.md',
    /bodies of routes with `includeUsage` .*?network, (\S+) MiB in all/,
    'src/gateway/forward/held-bodies.ts',
    /heldBytesOfAllMax = (\S+) \* mebibyte/,
  ],
  [
    'docs/issuers.md',
    /No more than (\S+) questions are under way/,
    'src/identity/issuers/introspection.ts',
    /askingMax = (\S+)/,
  ],
  [
    'docs/issuers.md',
    /bearer token \(RFC 6750, 2\.1\) of at most (\S+) characters/,
    'src/platform/secrets/key-format.ts',
    /bearerTokenMax = (\S+)/,
  ],
  [
    'docs/operators/store.md',
    /slot can be moved[\s\S]*?after (\S+) ms/,
    'src/store/open.ts',
    /request: (\S+),/,
  ],
  [
    'docs/operators/upstreams.md',
    /The first (\S+) addresses are/,
    'src/http/upstream/resolve-host.ts',
    /addressesMax = (\S+)/,
  ],
  ...['docs/faq.md', 'docs/compared.md'].map(
    (page) =>
      [
        page,
        /about (\S+) times the CPU of HAProxy/,
        'README.md',
        /about (\S+) times the CPU of plain HAProxy/,
      ] as const,
  ),
]
for (const [text, pattern, source, constant] of figures) {
  t.test(`${text} has the figure that ${source} has: ${pattern.source}`, async (t) => {
    // Lines may break anywhere.
    const said = pattern.exec(readFileSync(text, 'utf8').replaceAll(/\s+/g, ' '))?.[1] ?? ''
    const meant = constant.exec(readFileSync(source, 'utf8'))?.[1]
    t.equal(said.replaceAll(',', ''), meant?.replaceAll('_', ''))
  })
}
