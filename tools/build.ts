import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { assetFolders, bundle, programExternal } from './bundle.ts'
import { billOf, licencesOf, packagesOf } from './bundled-packages.ts'

/**
 * Builds dist/ for the package and the image: the program with all that it needs in few files, and the library, whose
 * types stay one file for each source (docs/decisions/0043-bundle.md).
 */

rmSync('dist', { recursive: true, force: true })
execFileSync('node_modules/.bin/tsc', ['-p', 'tools/tsconfig.build.json'], { stdio: 'inherit' })

const modules = await bundle({
  input: { main: 'src/main.ts', 'runtime/fleet/worker-main': 'src/runtime/fleet/worker-main.ts' },
  chunks: 'chunks',
  external: programExternal,
})
// Its packages are those of the app: a second Fastify, or the classes of a second ioredis, would not fit them.
await bundle({
  input: Object.fromEntries(
    ['fastify', 'verify', 'client'].map((name) => [`library/${name}`, `src/library/${name}.ts`]),
  ),
  chunks: 'library/chunks',
  // Not the helpers of the bundler, of which some have no path.
  external: [/^(?!@oxc-project\/)[^./\\\0#]/],
})

for (const folder of assetFolders) {
  cpSync(`src/${folder}`, `dist/${folder}`, { recursive: true })
}
chmodSync('dist/main.js', 0o755)

const packages = packagesOf(modules)
// The cast is sound: these are fields of our own package.json.
const { name, version, license } = JSON.parse(readFileSync('package.json', 'utf8')) as Record<
  'name' | 'version' | 'license',
  string
>
writeFileSync(
  'dist/gatehouse.cdx.json',
  `${JSON.stringify(billOf({ name, version, license }, packages), undefined, 2)}\n`,
)
writeFileSync('dist/THIRD-PARTY-LICENSES.txt', licencesOf(packages))
