import { loadFigures, measureLoad } from './load-figures.ts'
import { withTokens } from './requests.ts'
import type { Contestant, Scenario } from './scenario.ts'

const body = 'x'.repeat(10_240)
const peers = ['bare', 'haproxy', 'haproxy-jwt', 'nginx', 'http-proxy'] as const

export const post: Scenario = {
  summary: 'POST of 10 KiB',
  figures: loadFigures,
  compared: 'cpuUs',
  yardsticks: ['haproxy', 'bare'],
  note: '200 tokens in turn; the upstream reads the body and answers 15 bytes.',
  async open(bench) {
    const { credentials } = await bench.gateway(bench.gateways[0])
    const requests = withTokens('POST /any', credentials.accessTokens, body)
    const found: Contestant[] = []
    for (const name of bench.available(peers)) {
      const subject = await bench.peer(name)
      found.push({ name, measure: () => measureLoad(bench, subject, { requests }) })
    }
    for (const kind of bench.gateways) {
      const subject = await bench.gateway(kind)
      const own = withTokens('POST /any', subject.credentials.accessTokens, body)
      found.push({ name: kind.label, measure: () => measureLoad(bench, subject, { requests: own }) })
    }
    return found
  },
}
