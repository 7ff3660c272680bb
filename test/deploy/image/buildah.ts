import { mkdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { withBaseRoot } from './base.ts'
import { type BuiltImage, buildArguments, type ImageConfig, output } from './built-image.ts'
import { startInRoot } from './start-in-root.ts'

const storage = join(homedir(), '.cache/gatehouse-image')

/** Apart from the images of the machine. Without an engine there are no overlays and no containers: vfs, chroot. */
function buildah(...args: readonly string[]): string {
  const folders = ['--root', join(storage, 'root'), '--runroot', join(storage, 'run'), '--storage-driver=vfs']
  return output('buildah', ...folders, ...args)
}

/** Builds with buildah on the stand-in base, which is made once for each version of Node. */
export function buildWithBuildah(): BuiltImage {
  mkdirSync(storage, { recursive: true, mode: 0o700 })
  const { version } = JSON.parse(readFileSync('tools/pinned-node/package.json', 'utf8')) as {
    version: string
  }
  const base = `localhost/gatehouse-base:${version}`
  if (!buildah('images', '--format', '{{.Name}}:{{.Tag}}').split('\n').includes(base)) commitBase(base)
  // The format of docker: the other one has no health check.
  const options = [
    '--isolation=chroot',
    '--pull=never',
    '--format=docker',
    '--build-arg',
    `NODE_IMAGE=${base}`,
  ]
  buildah('build', ...options, ...buildArguments(), '.')
  // The cast is sound: this is the image config of docker.
  const { Docker } = JSON.parse(buildah('inspect', '--type=image', 'gatehouse')) as {
    readonly Docker: { readonly config: ImageConfig }
  }
  const container = buildah('from', '--pull-never', 'gatehouse')
  const root = buildah('mount', container)
  return {
    config: Docker.config,
    start: (options) => startInRoot(root, Docker.config, options),
    close: () => void buildah('rm', container),
  }
}

function commitBase(base: string): void {
  withBaseRoot((root) => {
    const container = buildah('from', 'scratch')
    buildah('copy', container, root, '/')
    const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
    buildah('config', '--cmd', 'node', '--env', `PATH=${path}`, container)
    buildah('commit', '--quiet', '--rm', container, base)
  })
}
