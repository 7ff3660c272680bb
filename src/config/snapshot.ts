import { dirname, resolve } from 'node:path'
import type { Config } from './config.ts'
import { resolveConfig } from './resolve.ts'
import type { ConfigTree } from './schema/schema.ts'
import { nameOfSecret } from './secrets.ts'

/**
 * All that a config was built from, as plain JSON: for another process to build the same, even if files have changed.
 */
export interface ConfigSnapshot {
  /** The config file: relative paths are relative to it. */
  readonly file: string
  readonly tree: ConfigTree
  /** The texts of the secrets, by nameOfSecret. */
  readonly secrets: Readonly<Record<string, string>>
}

/** The config that a snapshot was taken of. It contains secrets, and must not be logged. */
export function restoreConfig({ file, tree, secrets }: ConfigSnapshot): Config {
  return resolveConfig(tree, {
    secret: (reference) => secrets[nameOfSecret(reference)] ?? '',
    resolvePath: (path) => resolve(dirname(file), path),
  })
}
