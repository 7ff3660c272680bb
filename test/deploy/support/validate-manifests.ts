import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Manifest } from './manifests.ts'

/** Where the types and the schemas of a kind are: those that Kubernetes publishes, as modules. */
function moduleOf({ apiVersion, kind }: Manifest): string {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  if (group === 'monitoring.coreos.com')
    return `@kubernetes-models/prometheus-operator/${group}/${version}/${kind}`
  return ['kubernetes-models', group, version, kind].filter((part) => part !== '').join('/')
}

/**
 * Validates manifests against the schemas that Kubernetes and the Prometheus operator publish. Those allow fields that
 * do not exist, so the compiler looks for these: the same schemas are types, and a literal may have no other field.
 * @returns what is wrong; nothing for valid manifests
 */
export async function manifestProblems(manifests: readonly Manifest[]): Promise<readonly string[]> {
  return [...(await schemaProblems(manifests)), ...typeProblems(manifests)]
}

async function schemaProblems(manifests: readonly Manifest[]): Promise<readonly string[]> {
  const problems: string[] = []
  for (const manifest of manifests) {
    // The cast is sound: each module exports the class of its kind, and a test sees that a wrong manifest is found.
    const models = (await import(moduleOf(manifest))) as Record<
      string,
      new (
        data: Manifest,
      ) => { validate(): void }
    >
    const Model = models[manifest.kind]
    if (!Model) throw new Error(`no schema of ${manifest.apiVersion} ${manifest.kind}`)
    try {
      new Model(manifest).validate()
    } catch (error) {
      problems.push(`${manifest.kind}: ${String(error)}`)
    }
  }
  return problems
}

function typeProblems(manifests: readonly Manifest[]): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-manifests-'))
  try {
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
    const lines = manifests.flatMap((manifest, index) => [
      `import type { I${manifest.kind} as Kind${index} } from '${moduleOf(manifest)}'`,
      `export const manifest${index}: Kind${index} = ${JSON.stringify(manifest)}`,
    ])
    writeFileSync(join(folder, 'manifests.ts'), lines.join('\n'))
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'esnext']
    // Without the loaders that the test runner adds to every child.
    const compiler = ['-u', 'NODE_OPTIONS', resolve('node_modules/.bin/tsc'), ...options, 'manifests.ts']
    const { status, stdout, stderr } = spawnSync('env', compiler, { cwd: folder, encoding: 'utf8' })
    if (status !== 0 && stdout === '') throw new Error(stderr)
    return stdout.split('\n').filter((line) => line !== '')
  } finally {
    rmSync(folder, { recursive: true })
  }
}
