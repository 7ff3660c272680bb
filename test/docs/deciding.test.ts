import { readFileSync } from 'node:fs'
import t from 'tap'
import { foreignPaths, ownPaths } from '../gateway/decide/proxies/own-paths.ts'

t.test('the page names every path that a proxy leaves to the main listener, and no other', (t) => {
  const page = readFileSync('docs/deciding.md', 'utf8')
  const table = /^\| path \| exists \|\n(?:\|.*\n)+/m.exec(page)?.[0] ?? ''
  const named = [...table.matchAll(/`(\/[^`…]+)(…?)`/g)].map(
    ([, start = '', dots]) =>
      (path: string) =>
        dots === '' ? path === start : path.startsWith(start),
  )
  t.ok(named.length > 5)
  const isNamed = (path: string) => named.some((matches) => matches(path))
  for (const path of ownPaths) t.ok(isNamed(path), path)
  for (const path of foreignPaths) t.notOk(isNamed(path), path)
  for (const matches of named) t.ok(ownPaths.some(matches))
  t.end()
})
