import type { Bench } from '../bench.ts'
import { cores, startModule } from '../processes.ts'
import type { ReadyMessage } from '../report-url.ts'
import type { Gatehouse } from '../subjects/gatehouse.ts'
import type { Subject } from '../subjects/subject.ts'
import { loadFigures, measureLoad } from './load-figures.ts'
import { withKeys, withTokens, writeRequest } from './requests.ts'
import type { Contestant, Scenario } from './scenario.ts'

export const app: Scenario = {
  summary: 'Small GET through a Fastify app: what gatehouse/fastify adds to @fastify/http-proxy',
  figures: loadFigures,
  compared: 'cpuUs',
  yardsticks: ['http-proxy'],
  note:
    '`http-proxy` has its defaults and looks at nothing, but gets the same bytes as `bearer`. The others are the same ' +
    'http-proxy with the options of `app.gatehouse.proxy()`: they authenticate, rebuild the head, and cancel and ' +
    'verify what http-proxy does not. 200 tokens or keys in turn, answers of 15 bytes; logging is off.',
  async open(bench) {
    const gateway = await bench.gateway(bench.gateways[0])
    const { accessTokens, secretKeys } = gateway.credentials
    const subject = await startApp(bench, gateway)
    const ways = {
      'auth none': { requests: [writeRequest('GET /public')] },
      bearer: { requests: withTokens('GET /any', accessTokens) },
      key: { requests: withKeys('GET /any', secretKeys) },
      'no key': { requests: [writeRequest('GET /any')], status: 401 },
    }
    const found: Contestant[] = []
    for (const name of bench.available(['http-proxy'] as const)) {
      const peer = await bench.peer(name)
      found.push({ name, measure: () => measureLoad(bench, peer, ways.bearer) })
    }
    for (const [way, load] of Object.entries(ways))
      found.push({ name: `gatehouse/fastify: ${way}`, measure: () => measureLoad(bench, subject, load) })
    return found
  },
}

async function startApp({ scope, upstreamUrl }: Bench, { configFile }: Gatehouse): Promise<Subject> {
  const { child, ready } = await startModule<ReadyMessage>(scope, {
    core: cores.subject,
    file: 'subjects/fastify-app.ts',
    args: [upstreamUrl, configFile],
  })
  return { url: ready.url, pids: [child.pid] }
}
