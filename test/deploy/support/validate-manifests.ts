import { readFileSync } from 'node:fs'
import { Ajv2019 } from 'ajv/dist/2019.js'
import type { Manifest } from './manifests.ts'

const ajv = new Ajv2019({ allErrors: true, strict: false })
ajv.addSchema(JSON.parse(readFileSync('test/deploy/support/manifest-schemas.json', 'utf8')), 'published')

/** Where the schema of a kind comes from (`make-manifest-schemas.ts`): it has that name. */
function moduleOf({ apiVersion, kind }: Manifest): string {
  const path = `${apiVersion}/${kind}`
  return apiVersion.startsWith('monitoring.coreos.com/')
    ? `@kubernetes-models/prometheus-operator/${path}`
    : `kubernetes-models/${path}`
}

/**
 * Validates manifests against what Kubernetes and the Prometheus operator publish. A field that they do not name is a
 * problem: published schemas allow those, which is how a misspelt `readOnlyRootFilesystem` passes.
 * @returns what is wrong; nothing for valid manifests
 */
export function manifestProblems(manifests: readonly Manifest[]): readonly string[] {
  return manifests.flatMap((manifest) => {
    const validate = ajv.getSchema(`published#/$defs/${moduleOf(manifest).replaceAll('/', '~1')}`)
    if (!validate) throw new Error(`no schema of ${manifest.apiVersion} ${manifest.kind}`)
    if (validate(manifest)) return []
    return (validate.errors ?? []).map(
      ({ instancePath, message = '', params }) =>
        `${manifest.kind}${instancePath} ${message} ${JSON.stringify(params)}`,
    )
  })
}
