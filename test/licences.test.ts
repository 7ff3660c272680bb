import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import t from 'tap'

/** Licences that ask for nothing but the notice that they come with. */
const allowed = new Set([
  'MIT',
  'MIT-0',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  'BlueOak-1.0.0',
  '0BSD',
])

interface LockedPackage {
  /** Of a package that is installed under another name. */
  readonly name?: string
  readonly version: string
  readonly license?: string
  readonly dev?: boolean
  readonly optional?: boolean
  /** Only a link: the folder that it leads to has an entry of its own. */
  readonly link?: boolean
}

// The cast is sound: npm writes this file.
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  readonly packages: Readonly<Record<string, LockedPackage>>
}
const shipped = Object.entries(packages).filter(
  ([path, { dev, link }]) => path !== '' && dev !== true && link !== true,
)

t.test('every shipped package has an allowed licence', async (t) => {
  t.ok(shipped.length > 10)
  const others = shipped.filter(([, { license }]) => license === undefined || !allowed.has(license))
  t.strictSame(
    others.map(([path, { license }]) => `${path}: ${license}`),
    [],
  )
})

t.test('the bill of materials is CycloneDX and names every package with its version', async (t) => {
  const text = execFileSync(process.execPath, ['tools/sbom.ts'], {
    encoding: 'utf8',
    maxBuffer: 64 * 1_048_576,
  })
  const { bomFormat, components } = JSON.parse(text) as {
    readonly bomFormat: string
    readonly components: readonly { readonly purl: string; readonly licenses?: readonly unknown[] }[]
  }
  t.equal(bomFormat, 'CycloneDX')
  const named = new Set(components.map(({ purl }) => decodeURIComponent(purl)))
  const missing = shipped
    .filter(([, { optional }]) => optional !== true)
    .map(
      ([path, { name = path.slice(path.lastIndexOf('node_modules/') + 13), version }]) =>
        `pkg:npm/${name}@${version}`,
    )
    .filter((purl) => !named.has(purl))
  t.strictSame(missing, [])
  t.ok(components.every(({ licenses = [] }) => licenses.length > 0))
})
