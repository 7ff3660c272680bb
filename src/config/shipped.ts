import { existsSync } from 'node:fs'
import { isAbsolute, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The path of a config that comes with the program, at the same relative place for the sources and the build.
 * @returns undefined if the program was installed without it
 */
export function shippedConfig(name: 'gateway.yaml' | 'gateway.example.yaml'): string | undefined {
  const path = fileURLToPath(new URL(`../../config/${name}`, import.meta.url))
  if (!existsSync(path)) return undefined
  const fromHere = relative('', path)
  return fromHere.startsWith('..') || isAbsolute(fromHere) ? path : fromHere
}
