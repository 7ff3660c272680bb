import { observed } from './contestants.ts'
import { contestantsOf, loadFigures } from './load-figures.ts'
import { bearers, fresh } from './requests.ts'
import type { Contestant, Scenario } from './scenario.ts'

const count = 3_000
/** Never reached. */
const rateLimit = { limit: 1_000_000_000, per: '1m', by: 'account' }
const shared = { upstream: 'backend', auth: 'any' }
const paths = Array.from({ length: count }, (_, index) => `/services/s${index}/items`)
const plainPaths = paths.map((path) => path.replace('services', 'plain'))
const config = {
  ...observed,
  routes: [
    { name: 'any', path: '/any', ...shared },
    { name: 'limited', path: '/limited', ...shared, rateLimit },
    ...paths.map((path, index) => ({ name: `s${index}`, path, ...shared, rateLimit })),
    ...plainPaths.map((path, index) => ({ name: `p${index}`, path, ...shared })),
  ],
}

export const routes: Scenario = {
  summary: 'Fresh heads: 3,000 routes, each with a rate limit',
  figures: loadFigures,
  compared: 'cpuUs',
  yardsticks: ['gatehouse: two routes'],
  note:
    'Heads of a browser as in `fresh-heads`, with the access log. Bearer, 200 tokens in turn, each request to the next route: 3,000 different ones, each with the counter of its ' +
    'caller. `two routes`: the config of the other scenarios. The other rows are one process with all routes: ' +
    '`without a rate limit` and `one with a rate limit` are requests to one of them. In a profile of `all in turn` ' +
    'what it takes more than the others are loads from memory, all over the request: its destination and route, ' +
    'the count of its rate, its series and its usage, which 2,999 others have displaced from the caches of the core.',
  async open(bench) {
    const found: Contestant[] = []
    for (const kind of bench.gateways) {
      const few = await bench.gateway(kind, { config: observed })
      const many = await bench.gateway(kind, { config })
      const { accessTokens } = many.credentials
      const callers = bearers(accessTokens)
      const inTurn = paths.flatMap(
        (path, index) => fresh(`GET ${path}`, [callers[index % callers.length] ?? {}]).requests,
      )
      const ways = contestantsOf(bench, kind, {
        'two routes': [few, fresh('GET /any', bearers(few.credentials.accessTokens))],
        'without a rate limit': [many, fresh('GET /any', callers)],
        'one with a rate limit': [many, fresh('GET /limited', callers)],
        'plain in turn': [
          many,
          {
            requests: plainPaths.flatMap(
              (path, index) => fresh(`GET ${path}`, [callers[index % callers.length] ?? {}]).requests,
            ),
            isNumbered: true,
          },
        ],
        'all in turn': [many, { requests: inTurn, isNumbered: true }],
      })
      found.push(...ways)
    }
    return found
  },
}
