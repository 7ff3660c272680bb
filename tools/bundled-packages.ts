import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Package {
  readonly name: string
  readonly version: string
  /** An identifier of SPDX. */
  readonly license: string
}

/** A package of which a bundle has modules. */
export interface BundledPackage extends Package {
  /** Its licence and notices, word for word; empty = it comes without. */
  readonly licenceTexts: readonly string[]
  readonly author: string
}

/** The packages that modules are from, by name. @throws Error where one names no licence */
export function packagesOf(modules: readonly string[]): readonly BundledPackage[] {
  const folders = new Set(
    modules.flatMap((path) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(path)?.[0] ?? []),
  )
  return [...folders].map(readPackage).sort((one, other) => (titleOf(one) < titleOf(other) ? -1 : 1))
}

interface Manifest extends Omit<Package, 'license'> {
  readonly license?: unknown
  readonly author?: string | { readonly name: string }
}

function readPackage(folder: string): BundledPackage {
  // The cast is sound: npm publishes nothing without name and version.
  const {
    name,
    version,
    license,
    author = '',
  } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
  if (typeof license !== 'string') throw new Error(`${name} names no licence`)
  const licenceTexts = readdirSync(folder)
    .filter((file) => /^(?:licen[cs]e|copying|notice)/i.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8').trim())
  return { name, version, license, licenceTexts, author: typeof author === 'string' ? author : author.name }
}

function titleOf({ name, version }: Package): string {
  return `${name} ${version}`
}

/** The licences of packages, as their authors ask for in copies. */
export function licencesOf(packages: readonly BundledPackage[]): string {
  const head = 'The files of Gatehouse in this folder contain code of these packages.'
  const sections = packages.map((each) => {
    const { license, licenceTexts, author } = each
    const texts = licenceTexts.length > 0 ? licenceTexts : [`Copyright: ${author}`]
    return [`${'-'.repeat(80)}\n${titleOf(each)} (${license})`, ...texts].join('\n\n')
  })
  return `${[head, ...sections].join('\n\n')}\n`
}

/** The bill of materials of what has been built: a scanner finds no folder for a package that is bundled. */
export function billOf(program: Package, packages: readonly BundledPackage[]): object {
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { type: 'application', ...componentOf(program) } },
    components: packages.map((each) => ({ type: 'library', ...componentOf(each) })),
  }
}

function componentOf({ name, version, license }: Package) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  return { 'bom-ref': purl, name, version, purl, licenses: [{ license: { id: license } }] }
}
