import { contestantsOf, loadFigures } from './load-figures.ts'
import { withKeys, withTokens } from './requests.ts'
import type { Contestant, Scenario } from './scenario.ts'

export const authentication: Scenario = {
  summary: 'Small GET: what warm authentication costs',
  figures: loadFigures,
  compared: 'cpuUs',
  yardsticks: ['gatehouse: none, token in the head', 'gatehouse: none, key in the head'],
  note:
    'One process, 200 tokens or keys in turn, all known; `none`: the same bytes on a public route, where a token is ' +
    'forwarded to the backend. Turns of one second, so that all four meet the same conditions of the machine.',
  async open(bench) {
    const found: Contestant[] = []
    for (const kind of bench.gateways) {
      const subject = await bench.gateway(kind)
      const { accessTokens, secretKeys } = subject.credentials
      const ways = contestantsOf(bench, kind, {
        'none, token in the head': [subject, { requests: withTokens('GET /public', accessTokens) }],
        bearer: [subject, { requests: withTokens('GET /any', accessTokens) }],
        'none, key in the head': [subject, { requests: withKeys('GET /public', secretKeys) }],
        key: [subject, { requests: withKeys('GET /any', secretKeys) }],
      })
      found.push(...ways)
    }
    return found
  },
}
