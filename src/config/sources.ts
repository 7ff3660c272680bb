import type { Override } from './overrides.ts'
import { isPathPrefix, type Path, type Problem, type Source, valueAt } from './problem.ts'
import type { ConfigFile } from './read-config-file.ts'
import type { Finding } from './validate.ts'

/** Finds out where options come from: the file, an override, or a default. */
export function createSources(configFile: ConfigFile, overrides: readonly Override[]) {
  function findSource(path: Path, at: Finding['at'] = 'value'): Source {
    const override = overrides.findLast((one) => isPathPrefix(one.path, path) || isPathPrefix(path, one.path))
    if (override && setsOption(override, path)) return override.source
    const isReplaced = override !== undefined && isPathPrefix(override.path, path)
    if (isReplaced || !isWritten(configFile.tree, path)) return { kind: 'default' }
    return at === 'key' ? configFile.locateKey(path) : configFile.locate(path)
  }

  /** A missing option is reported at the item that lacks it. */
  function findNearestSource(path: Path): Source {
    for (let length = path.length - 1; length > 0; length--) {
      const item = path.slice(0, length)
      const isOverridden = overrides.some((one) => isPathPrefix(one.path, item))
      if (!isOverridden && isWritten(configFile.tree, item)) return configFile.locate(item)
      const source = findSource(item)
      if (source.kind !== 'default') return source
    }
    return configFile.locate([])
  }

  return {
    /** The source of the effective value at a path. */
    sourceOf: (path: Path) => findSource(path),
    toProblem: ({ path, at, message }: Finding): Problem => {
      const source = findSource(path, at)
      return { path, message, source: source.kind === 'default' ? findNearestSource(path) : source }
    },
  }
}

/** Whether an override sets the option at a path, or a part of it. */
function setsOption({ path: overridePath, value }: Override, path: Path): boolean {
  return overridePath.length > path.length || isWritten(value, path.slice(overridePath.length))
}

function isWritten(tree: unknown, path: Path): boolean {
  return valueAt(tree, path) !== undefined
}
