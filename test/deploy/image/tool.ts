import { spawnSync } from 'node:child_process'

/** What builds the image here: an engine, or buildah on a base made on this machine. */
export type ImageTool = 'docker' | 'podman' | 'buildah'

const buildahPrograms = ['buildah', 'debootstrap', 'unshare', 'nsenter']

/**
 * Chooses an engine that answers; without one buildah, which needs a Debian machine and the rights of root, and is
 * installed there.
 * @returns undefined if there is none
 */
export function chooseTool(): ImageTool | undefined {
  for (const engine of ['docker', 'podman'] as const) if (succeeds(engine, 'info')) return engine
  const canBuild = process.platform === 'linux' && process.arch === 'x64' && process.getuid?.() === 0
  if (!canBuild || !succeeds('apt-get', '--version')) return undefined
  if (!buildahPrograms.every((program) => succeeds(program, '--version'))) installFromDebian()
  return buildahPrograms.every((program) => succeeds(program, '--version')) ? 'buildah' : undefined
}

function succeeds(program: string, ...args: readonly string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore', timeout: 20_000 }).status === 0
}

function installFromDebian(): void {
  console.error('The image needs buildah and debootstrap: installing the Debian packages now.')
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  const packages = ['buildah', 'debootstrap', 'util-linux']
  for (const args of [
    ['update', '-q'],
    ['install', '-q', '-y', '--no-install-recommends', ...packages],
  ]) {
    spawnSync('apt-get', args, { stdio: ['ignore', 'ignore', 'inherit'], env })
  }
}
