import { loadFigures, measureLoad } from './load-figures.ts'
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
      const ways = {
        'none, token in the head': withTokens('GET /public', accessTokens),
        bearer: withTokens('GET /any', accessTokens),
        'none, key in the head': withKeys('GET /public', secretKeys),
        key: withKeys('GET /any', secretKeys),
      }
      for (const [way, requests] of Object.entries(ways))
        found.push({
          name: `${kind.label}: ${way}`,
          measure: () => measureLoad(bench, subject, { requests }),
        })
    }
    return found
  },
}
