import { execFileSync } from 'node:child_process'

/**
 * Prints the bill of materials of the program (CycloneDX, JSON): the packages that it runs on, without those for its
 * development. npm's own `--omit=dev` also leaves out packages that both need, so they are told apart here.
 */

interface Component {
  readonly 'bom-ref': string
  readonly properties?: readonly { readonly name: string; readonly value: string }[]
}

interface Bom {
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

function isShipped({ properties = [] }: Component): boolean {
  return !properties.some(({ name }) => name === 'cdx:npm:package:development')
}

const text = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], {
  encoding: 'utf8',
  maxBuffer: 64 * 1_048_576,
})
// The cast is sound: npm writes CycloneDX 1.5.
const bom = JSON.parse(text) as Bom
const dropped = new Set(bom.components.filter((each) => !isShipped(each)).map((each) => each['bom-ref']))
const dependencies = bom.dependencies
  .filter(({ ref }) => !dropped.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => !dropped.has(other)) }))
const components = bom.components.filter(isShipped)
console.log(JSON.stringify({ ...bom, components, dependencies }, undefined, 2))
