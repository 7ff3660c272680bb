import { readFileSync } from 'node:fs'

/** The version of the package, whose file is one folder above both the sources and the build. */
export function readVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  const { version } = JSON.parse(text) as { readonly version: string }
  return version
}
