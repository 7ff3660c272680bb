import type { Bench, GatewayKind } from '../bench.ts'
import { cores, startModule } from '../processes.ts'
import type { ReadyMessage } from '../report-url.ts'
import { startNginxAsking } from '../subjects/nginx.ts'
import type { Subject } from '../subjects/subject.ts'
import { contestantsOf, loadFigures, measureLoad } from './load-figures.ts'
import { withKeys, withTokens } from './requests.ts'
import type { Contestant, Scenario } from './scenario.ts'

export const decide: Scenario = {
  summary: 'Small GET through nginx that asks about it: what a decision costs, nginx included',
  figures: loadFigures,
  compared: 'cpuUs',
  yardsticks: ['bare answers', 'cached answers'],
  note:
    'nginx with the same lines each time: it describes the request to a service (`auth_request`), and sets the ' +
    'identity that it is told. `bare answers`: the service is `node:http`, looks at nothing, and has its answer ' +
    'ready. `cached answers`: the same, and nginx keeps the answer of each token for ten minutes, so that nothing ' +
    'is asked, and nothing revoked. 200 tokens or keys in turn. The CPU time is that of nginx and the service.',
  async open(bench) {
    const { credentials } = await bench.gateway(bench.gateways[0])
    const requests = withTokens('GET /any', credentials.accessTokens)
    const found: Contestant[] = []
    if (bench.available(['nginx']).length === 0) return found
    found.push({
      name: 'nginx',
      measure: () => bench.peer('nginx').then((subject) => measureLoad(bench, subject, { requests })),
    })
    for (const isCached of [false, true]) {
      const subject = await startAnswers(bench, isCached)
      const name = isCached ? 'cached answers' : 'bare answers'
      found.push({ name, measure: () => measureLoad(bench, subject, { requests }) })
    }
    for (const kind of bench.gateways) found.push(...(await openDeciding(bench, kind)))
    return found
  },
}

async function startAnswers({ scope, upstreamUrl }: Bench, isCached: boolean): Promise<Subject> {
  const { child, ready } = await startModule<ReadyMessage>(scope, {
    core: cores.subject,
    file: 'subjects/answers.ts',
    args: [],
  })
  return startNginxAsking({ scope, upstreamUrl }, { url: ready.url, pids: [child.pid], isCached })
}

async function openDeciding(bench: Bench, kind: GatewayKind): Promise<readonly Contestant[]> {
  const { scope, upstreamUrl } = bench
  const config = { decide: { port: 0 }, trustedProxies: ['127.0.0.1'] }
  const { decideUrl, pids, credentials } = await bench.gateway(kind, { config })
  if (decideUrl === undefined) return []
  const subject = await startNginxAsking({ scope, upstreamUrl }, { url: decideUrl, pids, isCached: false })
  return contestantsOf(bench, kind, {
    bearer: [subject, { requests: withTokens('GET /any', credentials.accessTokens) }],
    key: [subject, { requests: withKeys('GET /any', credentials.secretKeys) }],
  })
}
