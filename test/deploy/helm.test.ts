import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import t from 'tap'
import { parse } from 'yaml'
import { kustomizeBase, type Manifest, manifestOf, manifestsIn } from './support/manifests.ts'
import { manifestProblems } from './support/validate-manifests.ts'

// needs: go, golang-github-masterminds-sprig-dev, golang-gopkg-yaml.v3-dev

const chart = 'deploy/helm/gatehouse'

type Values = Readonly<Record<string, unknown>>

function chartFile(name: string): Values {
  // The cast is sound: these files are mappings, as the tests below need them to be.
  return parse(readFileSync(`${chart}/${name}`, 'utf8')) as Values
}

/** The manifests of a release `gatehouse`, with values in place of those of the chart. */
function render(overrides: Values = {}): readonly Manifest[] {
  const { name, version, appVersion } = chartFile('Chart.yaml')
  const input = {
    Values: { ...chartFile('values.yaml'), ...overrides },
    Release: { Name: 'gatehouse', Namespace: 'default', Service: 'Helm' },
    Chart: { Name: name, Version: version, AppVersion: appVersion },
  }
  const env = { ...process.env, GO111MODULE: 'off', GOPATH: '/usr/share/gocode' }
  const { status, stdout, stderr } = spawnSync('go', ['run', 'test/deploy/support/render-chart.go', chart], {
    input: JSON.stringify(input),
    encoding: 'utf8',
    env,
  })
  if (status !== 0) throw new Error(stderr)
  return manifestsIn(stdout)
}

const everything = {
  serviceMonitor: { enabled: true, interval: '15s', labels: { release: 'prometheus' } },
  image: {
    repository: 'registry.example.com/gatehouse',
    tag: '1.2.3',
    pullPolicy: 'Always',
    pullSecrets: [{ name: 'a' }],
  },
  autoscaling: { enabled: false },
  env: [{ name: 'BACKEND_TOKEN', valueFrom: { secretKeyRef: { name: 'backend', key: 'token' } } }],
  service: { type: 'LoadBalancer', port: 8080, annotations: { a: 'b' } },
  podAnnotations: { c: 'd' },
  nodeSelector: { disk: 'ssd' },
  tolerations: [{ key: 'a', operator: 'Exists' }],
  affinity: { podAntiAffinity: {} },
}

t.test('the chart makes valid manifests, by default and with every value set', async (t) => {
  t.strictSame(manifestProblems(render()), [])
  const all = render(everything)
  t.strictSame(manifestProblems(all), [])
  t.match(manifestOf(all, 'Deployment'), {
    spec: {
      replicas: 3,
      template: {
        metadata: { annotations: { c: 'd' } },
        spec: {
          containers: [
            {
              image: 'registry.example.com/gatehouse:1.2.3',
              env: [{}, { name: 'BACKEND_TOKEN' }],
              imagePullPolicy: 'Always',
            },
          ],
          imagePullSecrets: [{ name: 'a' }],
          nodeSelector: { disk: 'ssd' },
          tolerations: [{ key: 'a' }],
        },
      },
    },
  })
  t.notOk(all.some(({ kind }) => kind === 'HorizontalPodAutoscaler'))
  t.match(manifestOf(all, 'ServiceMonitor'), { metadata: { labels: { release: 'prometheus' } } })
})

t.test('the chart and the kustomize base are the same, but for labels and names', async (t) => {
  const base = kustomizeBase()
  const rendered = render({ serviceMonitor: everything.serviceMonitor })
  for (const { kind, metadata } of base.filter(({ kind }) => kind !== 'ConfigMap')) {
    const [expected, actual] = [base, rendered].map((from) => specOf(manifestOf(from, kind, metadata.name)))
    t.strictSame(actual, expected, `${kind} ${metadata.name}`)
  }
  const [expected, actual] = [base, rendered].map((from) =>
    parse(manifestOf(from, 'ConfigMap').data?.['gateway.yaml'] ?? ''),
  )
  t.strictSame(actual, expected, 'the config')
})

/** Without what Helm adds: its labels, the digest of the config, and the policy that is the default anyway. */
function specOf(manifest: Manifest): unknown {
  const ofHelm = new Set(['annotations', 'imagePullPolicy'])
  const text = JSON.stringify(manifest, (name, value: unknown) => {
    if (ofHelm.has(name) || /^app\.kubernetes\.io\/(?!component|name)|^helm\.sh/.test(name)) return undefined
    return /^gatehouse-\w{10}$/.test(String(value)) ? 'gatehouse' : value
  })
  // The cast is sound: manifests have them.
  const { spec } = JSON.parse(text) as { readonly spec: { readonly type?: string } }
  // The default of a Service.
  return { type: 'ClusterIP', ...spec }
}

t.test('the schema of the values takes those of the chart, and refuses a misspelt one', async (t) => {
  const validate = new Ajv({ allowUnionTypes: true }).compile(
    JSON.parse(readFileSync(`${chart}/values.schema.json`, 'utf8')) as object,
  )
  t.ok(validate(chartFile('values.yaml')), JSON.stringify(validate.errors))
  t.ok(validate({ ...chartFile('values.yaml'), ...everything }), JSON.stringify(validate.errors))
  t.notOk(validate({ ...chartFile('values.yaml'), replica: 3 }))
  t.notOk(validate({ ...chartFile('values.yaml'), terminationGracePeriodSeconds: 0 }))
})

const hasHelm = spawnSync('helm', ['version']).status === 0
t.test('helm lint accepts the chart', { skip: hasHelm ? false : 'helm is not installed' }, async (t) => {
  const { status, stdout } = spawnSync('helm', ['lint', '--strict', chart], { encoding: 'utf8' })
  t.equal(status, 0, stdout)
})
