import { spawnSync } from 'node:child_process'
import {
  type BuiltImage,
  buildArguments,
  type Container,
  type ContainerOptions,
  type ImageConfig,
  output,
} from './built-image.ts'

/** Builds and starts the image with docker or podman, on the base that the Dockerfile names. */
export function buildWithEngine(engine: 'docker' | 'podman'): BuiltImage {
  output(engine, 'build', ...buildArguments(), '.')
  // The cast is sound: both print the config of the image as OCI has it.
  const [image] = JSON.parse(output(engine, 'image', 'inspect', 'gatehouse')) as [
    { readonly Config: ImageConfig },
  ]
  return {
    config: image.Config,
    start: (options) => startWithEngine(engine, options),
    close: () => {},
  }
}

function startWithEngine(engine: string, { config, env }: ContainerOptions): Container {
  const settings = Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`])
  const id = output(
    engine,
    ...['run', '--detach', '--read-only', '--network=host', '--cap-drop=ALL', ...settings],
    ...['--mount', 'type=tmpfs,destination=/app/data,tmpfs-mode=0777'],
    ...['--volume', `${config}:/app/config/gateway.yaml:ro`, 'gatehouse'],
  )
  return {
    exec: (...command) => {
      const { status, stdout } = spawnSync(engine, ['exec', id, ...command], {
        encoding: 'utf8',
        maxBuffer: 64 * 1_048_576,
      })
      return { status, stdout }
    },
    terminate: async () => {
      output(engine, 'stop', '--time=30', id)
      return Number(output(engine, 'inspect', '--format={{.State.ExitCode}}', id))
    },
    kill: () => void spawnSync(engine, ['rm', '--force', '--volumes', id]),
    log: () => {
      const { stdout, stderr } = spawnSync(engine, ['logs', id], { encoding: 'utf8' })
      return stdout + stderr
    },
  }
}
