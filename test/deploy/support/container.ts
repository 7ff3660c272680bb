import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import type { Host, Started } from './host.ts'

/** What a container runtime, or systemd, is told. */
export interface ContainerSpec {
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly workingDir: string
  readonly user: { readonly uid: number; readonly gid: number }
  /** From the path in the container to the file or folder of the host that is there. */
  readonly mounts: Readonly<Record<string, { readonly source: string; readonly writable?: boolean }>>
  /** Names that resolve to the host itself. */
  readonly hosts?: readonly string[]
}

export interface Container extends Started {
  /** Runs a command in it, as its user. @returns its exit status */
  exec(
    command: readonly string[],
    asRoot?: boolean,
  ): Promise<{ readonly status: number | null; readonly output: string }>
  /** The most memory it has used so far. */
  peakMemoryBytes(): Promise<number>
}

/**
 * Runs a command as a container runtime does with a read-only root file system: nothing of this machine is there but its
 * libraries and Node, nothing can be written but what is mounted, and the user has no capabilities and gets none.
 */
export function startContainer(t: Test, host: Host, spec: ContainerSpec): Container {
  const root = mkdtempSync(join(tmpdir(), 'gatehouse-container-'))
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  const mounts = { ...libraries(), ...spec.mounts }
  for (const [target, { source }] of Object.entries(mounts)) makeMountPoint(join(root, target), source)
  makeEtc(root, spec.hosts ?? [])
  for (const name of ['bin', 'lib', 'lib64'])
    if (existsSync(`/${name}`)) symlinkSync(`usr/${name}`, join(root, name))
  mkdirSync(join(root, spec.workingDir), { recursive: true })
  chmodSync(root, 0o755)

  const lines = [
    'set -e',
    'mount --make-rprivate /',
    `mount --bind ${root} ${root}`,
    ...Object.entries(mounts).flatMap(([target, { source, writable = false }]) => [
      `mount --rbind ${source} ${root}${target}`,
      ...(writable ? [] : [`mount -o remount,ro,bind ${root}${target}`]),
    ]),
    `mount -o remount,ro,bind ${root}`,
    `exec chroot ${root} /usr/bin/env -i -C ${spec.workingDir} "$@"`,
  ]
  const environment = Object.entries({ PATH: '/usr/bin:/bin', ...spec.env }).map(
    ([name, value]) => `${name}=${value}`,
  )
  const asUser = [...environment, ...withoutRights(spec.user), ...spec.command]
  const started = host.start(['unshare', '--mount', 'sh', '-c', lines.join('\n'), 'sh', ...asUser])

  async function exec(command: readonly string[], asRoot = false) {
    const inside = [
      'nsenter',
      '--mount',
      '--root',
      `--target=${started.pid}`,
      '/usr/bin/env',
      '-i',
      '-C',
      spec.workingDir,
    ]
    const ran = host.start([
      ...inside,
      ...environment,
      ...(asRoot ? [] : withoutRights(spec.user)),
      ...command,
    ])
    return { status: await ran.ended, output: ran.output() }
  }

  async function peakMemoryBytes(): Promise<number> {
    const status = await host.run(['cat', `/proc/${started.pid}/status`])
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024
  }

  return { ...started, exec, peakMemoryBytes }
}

function withoutRights({ uid, gid }: ContainerSpec['user']): readonly string[] {
  const ids = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups']
  return ['setpriv', ...ids, '--bounding-set=-all', '--inh-caps=-all', '--no-new-privs', '--']
}

/** What the base image has. */
function libraries(): ContainerSpec['mounts'] {
  const programs = ['env', 'sh', 'setpriv', 'cat', 'kill', 'touch', 'grep', 'redis-server', 'redis-cli']
  return {
    '/usr/lib': { source: '/usr/lib' },
    ...(existsSync('/usr/lib64') && { '/usr/lib64': { source: '/usr/lib64' } }),
    '/usr/bin/node': { source: process.execPath },
    ...Object.fromEntries(programs.map((name) => [`/usr/bin/${name}`, { source: `/usr/bin/${name}` }])),
    '/proc': { source: '/proc', writable: true },
    '/dev': { source: '/dev', writable: true },
  }
}

function makeMountPoint(path: string, source: string): void {
  if (existsSync(path)) return
  mkdirSync(dirname(path), { recursive: true })
  const isFolder = statSync(source).isDirectory()
  if (isFolder) mkdirSync(path)
  else writeFileSync(path, '')
}

function makeEtc(root: string, hosts: readonly string[]): void {
  mkdirSync(join(root, 'etc'), { recursive: true })
  writeFileSync(join(root, 'etc/hosts'), `127.0.0.1 localhost ${hosts.join(' ')}\n`)
  writeFileSync(join(root, 'etc/nsswitch.conf'), 'hosts: files\n')
  if (existsSync('/etc/ssl'))
    cpSync('/etc/ssl', join(root, 'etc/ssl'), { recursive: true, dereference: true })
}
