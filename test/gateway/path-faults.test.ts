import t from 'tap'
import { pathFaults } from '#gateway/routes/request-target.ts'
import { startBoth } from '../setup/both.ts'
import { ask } from './support/ask.ts'

const route = { upstream: 'backend', auth: 'none' }
const routes = [
  { ...route, name: 'all', path: '/' },
  { ...route, name: 'admin', path: '/admin', auth: 'any' },
  { ...route, name: 'strict', path: '/strict', encodedSlash: 'reject' },
]
const once = (causes: string) =>
  `The path would match another route once ${causes}: write it as that route does.`

t.test('the detail of path-ambiguous says which rule the path breaks', async (t) => {
  const { gateway } = await startBoth(t, { config: { routes } })
  for (const [path, detail] of [
    ['//x', pathFaults.emptySegment],
    ['/a//b', pathFaults.emptySegment],
    ['/a/../b', pathFaults.dotSegment],
    ['/a/%2e%2e/b', pathFaults.dotSegment],
    ['/a/..;x/b', pathFaults.dotSegment],
    ['/a\\b', pathFaults.backslash],
    ['/a%zz', pathFaults.brokenEscape],
    ['/a%00', pathFaults.control],
    ['/a#b', pathFaults.fragment],
    ['/a/;x/b', pathFaults.parametersOnly],
    ['ftp://x/y', pathFaults.noPath],
    ['/strict/a%2Fb', pathFaults.encodedSlash],
    ['/Admin', once('case is ignored')],
    ['/admin%2Fx', once('escapes (%) are decoded')],
    ['/admin;x', once('parameters (;) are removed')],
    ['/ADMIN;x', once('parameters (;) are removed or case is ignored')],
  ] as const) {
    const response = await ask(t, gateway.url, `GET ${path}`)
    t.equal(response.status, 400, path)
    t.match(response.json(), { code: 'path-ambiguous', detail })
  }
  t.match(pathFaults.emptySegment, 'did the base URL end with a slash?')
})
