import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'

/** All pages of the documentation, the generated ones included. */
const pages = [
  ...readdirSync('.').filter((name) => name.endsWith('.md')),
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    // Not the packages of the site.
    .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
    .map((name) => join('docs', name)),
  'bench/README.md',
  'test/security/README.md',
]

t.test('every file and folder that the documentation names exists', async (t) => {
  const rooms = readdirSync('src').filter((name) => !name.endsWith('.ts'))
  const path = new RegExp(`^(?:src|test|docs|bench|config|deploy|tools|${rooms.join('|')})/[\\w./-]*$`)
  const named = pages.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/[^`\s()]+/g)]
      // Without the full stop of a sentence.
      .map(([text]) => text.replace(/\.$/, ''))
      .filter((text) => path.test(text))
      .map((text) => ({ page, text })),
  )
  t.ok(named.length > 100)
  t.strictSame(
    named.filter(({ text }) => !existsSync(text) && !existsSync(join('src', text))),
    [],
  )
})

/** The anchors of a page, as GitHub makes them from its headings. */
function anchorsOf(page: string): readonly string[] {
  return [...readFileSync(page, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

t.test('every link of the documentation leads to a file, and to a heading of it', async (t) => {
  const links = pages.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)].map(
      ([, path = '', anchor]) => ({ page, path: path === '' ? page : join(dirname(page), path), anchor }),
    ),
  )
  t.ok(links.length > 70)
  t.strictSame(
    links.filter(
      ({ path, anchor }) => !existsSync(path) || (anchor !== undefined && !anchorsOf(path).includes(anchor)),
    ),
    [],
  )
})
