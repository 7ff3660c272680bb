import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { Container, ContainerOptions, ImageConfig } from './built-image.ts'

/** Mounts are seen in here only: the root read-only, a data folder of the user, and what every container has. */
const enterRoot = `set -eu
root=$1 config=$2 folder=$3; shift 3
mount --bind "$root" "$root"
mount -t tmpfs -o uid=1000,gid=1000,mode=0755 tmpfs "$root/app/data"
mount --bind "$config" "$root/app/config/gateway.yaml"
mount -t tmpfs tmpfs "$root/dev"
for device in null zero random urandom; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mount -o remount,bind,ro "$root"
mount -t proc proc "$root/proc"
exec chroot --userspec=1000:1000 "$root" /bin/sh -c 'cd "$1"; shift; exec "$@"' sh "$folder" "$@"`

/**
 * Starts an image without an engine, from the folder with its files: with processes and mounts of its own, on the
 * network of this machine, as the image's user without any right of root, on a read-only root.
 */
export function startInRoot(root: string, image: ImageConfig, { config, env }: ContainerOptions): Container {
  const environment = {
    ...Object.fromEntries(image.Env.map((each) => each.split(/=(.*)/s).slice(0, 2))),
    ...env,
  } as Readonly<Record<string, string>>
  const namespaces = ['--mount', '--propagation=private', '--pid', '--fork']
  const command = [...image.Entrypoint, ...image.Cmd]
  const child = spawn(
    'env',
    [
      '-u',
      'NODE_OPTIONS',
      'unshare',
      ...namespaces,
      'sh',
      '-c',
      enterRoot,
      'sh',
      root,
      config,
      image.WorkingDir,
      ...command,
    ],
    { env: environment, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let log = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (log += String(text)))
  const exited = once(child, 'exit')

  /** The ID, on this machine, of the first process in there. */
  function firstProcess(): string {
    return readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim()
  }

  return {
    exec: (...words) => {
      const entered = [
        '--target',
        firstProcess(),
        '--mount',
        '--pid',
        '--root',
        '--wd',
        '--setgid=1000',
        '--setuid=1000',
      ]
      const { status, stdout } = spawnSync(
        'env',
        ['-u', 'NODE_OPTIONS', 'nsenter', ...entered, '--', ...words],
        { env: environment, encoding: 'utf8', maxBuffer: 64 * 1_048_576 },
      )
      return { status, stdout }
    },
    terminate: async () => {
      process.kill(Number(firstProcess()), 'SIGTERM')
      const [status] = (await exited) as [number | null]
      return status
    },
    kill: () => {
      // The first process takes the others with it; the end of unshare would not end it, as it has changed its user.
      if (child.exitCode === null && child.signalCode === null)
        process.kill(Number(firstProcess()), 'SIGKILL')
    },
    log: () => log,
  }
}
