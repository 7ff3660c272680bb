import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { parseDurationMs } from '#config/units.ts'
import { tempFolder } from '../cli/run.ts'
import { snippetsOf } from '../docs/snippets.ts'
import { kustomizeBase, type Manifest, manifestOf, manifestsIn, podSpecOf } from './support/manifests.ts'
import { manifestProblems } from './support/validate-manifests.ts'

const manifests = kustomizeBase()

t.test('the base has every object of the contract, and each is valid for Kubernetes', async (t) => {
  t.strictSame(manifests.map(({ kind }) => kind).sort(), [
    'ConfigMap',
    'Deployment',
    'HorizontalPodAutoscaler',
    'NetworkPolicy',
    'PodDisruptionBudget',
    'Service',
    'Service',
    'ServiceMonitor',
  ])
  t.strictSame(manifestProblems(manifests), [])
})

t.test('a wrong type, an unknown field, a missing one and a wrong word are found', async (t) => {
  const deployment = manifestOf(manifests, 'Deployment')
  const change = (from: string, to: string) => {
    const text = JSON.stringify(deployment)
    t.ok(text.includes(from), from)
    // The cast is what is tested: it need not be one.
    return manifestProblems([JSON.parse(text.replace(from, to)) as Manifest])
  }
  t.match(change('"containerPort":8080', '"containerPort":"8080"').join(), /containerPort must be integer/)
  t.match(change('"readOnlyRootFilesystem"', '"readonlyRootFilesystem"').join(), /readonlyRootFilesystem/)
  t.match(change('"selector"', '"selectors"').join(), /must have required property 'selector'/)
  t.match(change('"RuntimeDefault"', '"RuntimeDefautl"').join(), /must be equal to one of/)
})

t.test('the pod is what Kubernetes calls restricted, and has limits', async (t) => {
  t.match(podSpecOf(manifests), {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
        resources: { requests: { cpu: String, memory: String }, limits: { memory: String } },
      },
    ],
  })
})

t.test('the gateway has ended before Kubernetes kills it', async (t) => {
  const config: unknown = parse(manifestOf(manifests, 'ConfigMap').data?.['gateway.yaml'] ?? '')
  // The cast is sound: the run of the Deployment reads the same file.
  const { shutdown } = config as { readonly shutdown: { readonly delay: string; readonly drain: string } }
  const seconds = [shutdown.delay, shutdown.drain].reduce(
    (sum, text) => sum + (parseDurationMs(text) ?? Number.NaN) / 1000,
    0,
  )
  t.ok(podSpecOf(manifests).terminationGracePeriodSeconds >= seconds + 5)
})

t.test('clients do not reach the ops listener, and Prometheus reaches every instance', async (t) => {
  // The casts are sound: these are valid manifests.
  const service = manifestOf(manifests, 'Service') as unknown as { spec: { ports: { targetPort: string }[] } }
  t.strictSame(
    service.spec.ports.map(({ targetPort }) => targetPort),
    ['http'],
  )
  const policy = manifestOf(manifests, 'NetworkPolicy') as unknown as {
    spec: { ingress: { from?: unknown; ports: { port: string }[] }[] }
  }
  const ops = policy.spec.ingress.filter(({ ports }) => ports.some(({ port }) => port === 'ops'))
  t.equal(ops.length, 1)
  t.ok(ops.every(({ from }) => from !== undefined))
  const monitor = manifestOf(manifests, 'ServiceMonitor') as unknown as {
    spec: { selector: { matchLabels: object }; jobLabel: string }
  }
  const opsService = manifestOf(manifests, 'Service', 'gatehouse-ops') as unknown as {
    metadata: { labels: Record<string, string> }
  }
  t.match(opsService.metadata.labels, monitor.spec.selector.matchLabels)
  const alerts = readFileSync('deploy/dashboards/alerts.yaml', 'utf8')
  t.match(alerts, `job="${opsService.metadata.labels[monitor.spec.jobLabel]}"`)
})

t.test('the secret that the manual makes has the files that the config reads', async (t) => {
  const folder = tempFolder(t)
  const lines = snippetsOf('docs/deploying.md').find(
    ({ heading, language }) => heading === 'Kubernetes' && language === 'sh',
  )
  const [makeKey = '', makeSecret = ''] = lines?.text.split('\n') ?? []
  execFileSync('sh', ['-ec', `${makeKey}\n${makeSecret} --dry-run=client -o yaml > secret.yaml`], {
    cwd: folder,
  })
  const [secret] = manifestsIn(readFileSync(join(folder, 'secret.yaml'), 'utf8'))
  if (!secret) throw new Error('no secret')
  t.match(podSpecOf(manifests).volumes, [{}, { secret: { secretName: secret.metadata.name } }])
  const config = manifestOf(manifests, 'ConfigMap').data?.['gateway.yaml'] ?? ''
  const read = [...config.matchAll(/file: \/etc\/gatehouse-secrets\/([\w.-]+)/g)].map(([, name]) => name)
  t.strictSame(Object.keys(secret.data ?? {}).sort(), read.sort())
})
