import { observed } from './contestants.ts'
import { contestantsOf, loadFigures } from './load-figures.ts'
import { bearers, fresh } from './requests.ts'
import type { Contestant, Scenario } from './scenario.ts'

const count = 3_000
/** Never reached. */
const rateLimit = { limit: 1_000_000_000, per: '1m', by: 'account' }
const shared = { upstream: 'backend', auth: 'any' }
const numbers = Array.from({ length: count }, (_, index) => index)
const plainPath = (index: number) => `/plain/s${index}/items`
const limitedPath = (index: number) => `/limited/s${index}/items`
const config = {
  ...observed,
  routes: [
    { name: 'any', path: '/any', ...shared },
    { name: 'limited', path: '/limited', ...shared, rateLimit },
    ...numbers.map((index) => ({ name: `p${index}`, path: plainPath(index), ...shared })),
    ...numbers.map((index) => ({ name: `l${index}`, path: limitedPath(index), ...shared, rateLimit })),
  ],
}

export const routes: Scenario = {
  summary: 'Fresh heads: 3,000 routes in turn, with and without a rate limit each',
  figures: loadFigures,
  compared: 'cpuUs',
  yardsticks: ['gatehouse: two routes'],
  note:
    'Heads of a browser as in `fresh-heads`, with the access log. Bearer, 200 tokens in turn. `two routes`: the config of ' +
    'the other scenarios. The other rows are one process with 6,000 routes, of which half have a rate limit with the ' +
    'counter of each caller: `one` and `one, limited` are requests to one of them, `all` and `all, limited` each to the ' +
    'next of 3,000. In a profile of `all, limited` what it takes more than the others are loads from memory, all over the ' +
    'request: its destination and route, the count of its rate, its series and its usage, which 2,999 others have ' +
    'displaced from the caches of the core.',
  async open(bench) {
    const found: Contestant[] = []
    for (const kind of bench.gateways) {
      const few = await bench.gateway(kind, { config: observed })
      const many = await bench.gateway(kind, { config })
      const callers = bearers(many.credentials.accessTokens)
      const inTurn = (pathOf: (index: number) => string) => ({
        requests: numbers.flatMap(
          (index) => fresh(`GET ${pathOf(index)}`, [callers[index % callers.length] ?? {}]).requests,
        ),
        isNumbered: true,
      })
      const ways = contestantsOf(bench, kind, {
        'two routes': [few, fresh('GET /any', bearers(few.credentials.accessTokens))],
        one: [many, fresh('GET /any', callers)],
        'one, limited': [many, fresh('GET /limited', callers)],
        all: [many, inTurn(plainPath)],
        'all, limited': [many, inTurn(limitedPath)],
      })
      found.push(...ways)
    }
    return found
  },
}
