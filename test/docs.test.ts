import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'

/** All pages of the documentation, the generated ones included. */
const pages = [
  ...readdirSync('.').filter((name) => name.endsWith('.md')),
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
  'bench/README.md',
  'test/security/README.md',
]

t.test('every file and folder that the documentation names exists', async (t) => {
  const rooms = readdirSync('src').filter((name) => !name.endsWith('.ts'))
  const path = new RegExp(`^(?:src|test|docs|bench|config|dashboards|${rooms.join('|')})/[\\w./-]*$`)
  const named = pages.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/`([^`\n]+)`/g)]
      .map(([, text = '']) => text)
      .filter((text) => path.test(text))
      .map((text) => ({ page, text })),
  )
  t.ok(named.length > 100)
  t.strictSame(
    named.filter(({ text }) => !existsSync(text) && !existsSync(join('src', text))),
    [],
  )
})

t.test('every link of the documentation leads to a file', async (t) => {
  const links = pages.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)].map(([, link = '']) =>
      join(dirname(page), link),
    ),
  )
  t.ok(links.length > 30)
  t.strictSame(
    links.filter((path) => !existsSync(path)),
    [],
  )
})
