import { observed as withAccessLog } from './contestants.ts'
import { contestantsOf, loadFigures } from './load-figures.ts'
import { withTokens } from './requests.ts'
import type { Contestant, Scenario } from './scenario.ts'

export const observed: Scenario = {
  summary: 'Small GET: what the access log and tracing cost',
  figures: loadFigures,
  compared: 'cpuUs',
  yardsticks: ['gatehouse: neither'],
  note:
    'Bearer, 200 tokens in turn. `access log`: a line for each request, standard output is a file. `tracing at 5 %`: ' +
    'spans of every twentieth request are sent to a collector that answers at once. Of what they add about 40 % is in ' +
    'the kernel, which has hardly more to do: the core of the load, idle for 8 % of the time without them, is so for ' +
    '15 to 20 %, and has to be woken more often.',
  async open(bench) {
    const tracing = { otlp: { endpoint: bench.upstreamUrl, sampleRatio: 0.05 } }
    const ways = {
      neither: {},
      'access log': { config: withAccessLog },
      'tracing at 5 %': { config: { tracing } },
    }
    const found: Contestant[] = []
    for (const kind of bench.gateways) {
      for (const [way, changes] of Object.entries(ways)) {
        const subject = await bench.gateway(kind, changes)
        const requests = withTokens('GET /any', subject.credentials.accessTokens)
        found.push(...contestantsOf(bench, kind, { [way]: [subject, { requests }] }))
      }
    }
    return found
  },
}
