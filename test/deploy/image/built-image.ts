import { execFileSync } from 'node:child_process'

/** What an image says of itself, as in its OCI config. */
export interface ImageConfig {
  readonly User: string
  readonly WorkingDir: string
  readonly Env: readonly string[]
  readonly Entrypoint: readonly string[]
  readonly Cmd: readonly string[]
  readonly Labels: Readonly<Record<string, string>>
  readonly Healthcheck: { readonly Test: readonly string[] }
  readonly Volumes: Readonly<Record<string, unknown>>
  readonly ExposedPorts: Readonly<Record<string, unknown>>
}

export interface ContainerOptions {
  /** The path of the config file on this machine; in the container it is where the shipped one is. */
  readonly config: string
  /** Beside those of the image. */
  readonly env: Readonly<Record<string, string>>
}

/** The image, running as its own user on a read-only root, with an empty data folder of its own. */
export interface Container {
  /** Runs a command in it, as its user. */
  exec(...command: readonly string[]): { readonly status: number | null; readonly stdout: string }
  /** Sends SIGTERM. @returns the exit status */
  terminate(): Promise<number | null>
  /** Ends it at once, however far it is. */
  kill(): void
  /** What it has printed so far. */
  log(): string
}

export interface BuiltImage {
  readonly config: ImageConfig
  start(options: ContainerOptions): Container
  /** Removes what was made to try it; the image stays. */
  close(): void
}

/** Runs a program whose messages are shown only if it fails. @returns its standard output */
export function output(program: string, ...args: readonly string[]): string {
  return execFileSync(program, args, { encoding: 'utf8', maxBuffer: 256 * 1_048_576, stdio: 'pipe' }).trim()
}

export function buildArguments(): readonly string[] {
  return [
    '--label',
    `org.opencontainers.image.revision=${output('git', 'rev-parse', 'HEAD')}`,
    '--tag',
    'gatehouse',
  ]
}
