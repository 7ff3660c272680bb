import { environmentOverrides } from '../overrides.ts'
import type { Warning } from '../problem.ts'
import type { ConfigTree } from '../schema/schema.ts'
import { schemaAt } from '../schema/schema.ts'
import type { Environment } from '../secrets.ts'

/** More parts than any option has: every way of joining them is tried. */
const partsMax = 8

/** Variables that look like options but are not read, as they have one underscore where there must be two. */
export function findMisspelledVariables(env: Environment, tree: ConfigTree): Warning[] {
  return Object.entries(env).flatMap(([name, text]): Warning[] => {
    const [, rest] = /^GATEHOUSE_([^_].*)$/.exec(name) ?? []
    if (rest === undefined || text === undefined || isUnrelated(name, text)) return []
    const parts = rest.split(/_+/)
    if (parts.length > partsMax) return []
    for (const spelling of spellings(parts)) {
      const meant = `GATEHOUSE__${spelling}`
      const [override] = environmentOverrides({ [meant]: text }, tree)
      if (!override || !isOption(override.path)) continue
      const message = `is not set by this variable, did you mean ${meant}?`
      return [{ path: override.path, message, source: { kind: 'env', name } }]
    }
    return []
  })
}

/** Kubernetes sets GATEHOUSE_OPS_PORT=tcp://10.0.0.1:9090 for a Service gatehouse-ops; others a version. */
function isUnrelated(name: string, text: string): boolean {
  return name === 'GATEHOUSE_CONFIG' || name === 'GATEHOUSE_VERSION' || /^(?:tcp|udp|sctp):\/\//.test(text)
}

/** Every way of doubling underscores, all doubled first: a name may contain single ones itself. */
function spellings([first = '', ...rest]: readonly string[]): string[] {
  if (rest.length === 0) return [first]
  const ends = spellings(rest)
  return ['__', '_'].flatMap((between) => ends.map((end) => `${first}${between}${end}`))
}

/** Whether a path is an option and not a section, which would match too many variables. */
function isOption(path: Warning['path']): boolean {
  const node = schemaAt(path)
  return node !== undefined && node.type !== 'object'
}
