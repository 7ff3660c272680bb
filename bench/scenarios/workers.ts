import type { Bench, GatewayKind } from '../bench.ts'
import { loadFigures, measureLoad } from './load-figures.ts'
import { withTokens } from './requests.ts'
import type { Contestant, Scenario } from './scenario.ts'

const workerCounts = [1, 2] as const

export const workers: Scenario = {
  summary: 'Small GET over several workers: what one request costs all processes together',
  figures: loadFigures,
  compared: 'cpuUs',
  yardsticks: ['gatehouse: 1 worker'],
  note: 'Bearer, 200 tokens in turn. All processes share one core, so only their CPU cost is compared.',
  async open(bench) {
    const found: Contestant[] = []
    for (const kind of bench.gateways) {
      for (const count of workerCounts) found.push(await openWorkers(bench, kind, count))
    }
    return found
  },
}

async function openWorkers(bench: Bench, kind: GatewayKind, count: number): Promise<Contestant> {
  const subject = await bench.gateway(kind, { config: { listen: { port: 0, workers: count } } })
  const requests = withTokens('GET /any', subject.credentials.accessTokens)
  return {
    name: `${kind.label}: ${count} ${count === 1 ? 'worker' : 'workers'}`,
    measure: () => measureLoad(bench, subject, { requests }),
  }
}
