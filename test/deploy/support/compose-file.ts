import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

export const composeFile = 'deploy/compose.yaml'

export interface ComposeService {
  readonly image: string
  readonly user: string
  readonly command: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly networks: readonly string[]
  readonly ports?: readonly string[]
  readonly volumes?: readonly string[]
  readonly tmpfs?: readonly string[]
  readonly secrets?: readonly string[]
  readonly extra_hosts?: readonly string[]
  readonly healthcheck: { readonly test: readonly [kind: string, ...words: string[]] }
  readonly stop_grace_period?: string
  readonly deploy: { readonly resources: { readonly limits: { readonly memory: string } } }
}

/** The services, with what `<<` merges. */
export function composeServices(): Readonly<Record<string, ComposeService>> {
  // The cast is sound: a test validates the file by the schema of Compose.
  const { services } = parse(readFileSync(composeFile, 'utf8'), { merge: true }) as {
    readonly services: Readonly<Record<string, ComposeService>>
  }
  return services
}

/** What Compose makes of a text: `$$` is a dollar. */
export function composeText(text: string): string {
  return text.replaceAll('$$', '$')
}
