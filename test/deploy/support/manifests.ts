import { execFileSync } from 'node:child_process'
import { parseAllDocuments } from 'yaml'

// needs: kubectl

export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly data?: Readonly<Record<string, string>>
}

export interface HttpProbe {
  readonly httpGet: { readonly path: string; readonly port: string }
}

export interface PodSpec {
  readonly terminationGracePeriodSeconds: number
  readonly securityContext: {
    readonly runAsUser: number
    readonly runAsGroup: number
    readonly runAsNonRoot: boolean
  }
  readonly containers: readonly [
    {
      readonly image: string
      readonly args: readonly string[]
      readonly env: readonly { readonly name: string; readonly value: string }[]
      readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
      readonly startupProbe: HttpProbe
      readonly livenessProbe: HttpProbe
      readonly readinessProbe: HttpProbe
      readonly resources: { readonly limits: { readonly memory: string } }
      readonly securityContext: { readonly readOnlyRootFilesystem: boolean }
      readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
    },
  ]
  readonly volumes: readonly { readonly name: string }[]
}

/** What `kubectl apply -k deploy/kubernetes` would send. */
export function kustomizeBase(): readonly Manifest[] {
  return manifestsIn(execFileSync('kubectl', ['kustomize', 'deploy/kubernetes'], { encoding: 'utf8' }))
}

export function manifestsIn(text: string): readonly Manifest[] {
  // The cast is sound: what is read is validated by the tests of the manifests.
  const documents = parseAllDocuments(text).map((document) => document.toJS() as Manifest | null)
  return documents.filter((document) => document !== null)
}

export function manifestOf(manifests: readonly Manifest[], kind: string, name = 'gatehouse'): Manifest {
  const found = manifests.find(
    (manifest) => manifest.kind === kind && manifest.metadata.name.startsWith(name),
  )
  if (!found) throw new Error(`no ${kind} ${name}`)
  return found
}

/** The pod of the Deployment. */
export function podSpecOf(manifests: readonly Manifest[]): PodSpec {
  // The cast is sound: the test of the manifests validates it against the types of Kubernetes.
  const deployment = manifestOf(manifests, 'Deployment') as unknown as {
    readonly spec: { readonly template: { readonly spec: PodSpec } }
  }
  return deployment.spec.template.spec
}

/** `512Mi`, and `768M` of Compose, in bytes. */
export function memoryBytes(text: string): number {
  const [, amount, unit = ''] = /^(\d+)(Mi|M|Gi|G)$/.exec(text) ?? []
  const factor = { Mi: 2 ** 20, M: 2 ** 20, Gi: 2 ** 30, G: 2 ** 30 }[unit]
  if (factor === undefined) throw new Error(`no size: ${text}`)
  return Number(amount) * factor
}
