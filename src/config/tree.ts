import { type Alias, isAlias, isMap, isNode, isPair, isScalar, isSeq, type Pair } from 'yaml'
import type { Path } from './problem.ts'

/** A problem of the YAML at one position in the file. */
export interface Fault {
  readonly offset: number
  readonly path: Path
  readonly message: string
}

interface TreeReadResult {
  /** Plain maps, lists and values. No object occurs twice, so that changing one part changes no other. */
  readonly tree: unknown
  /** Duplicated options; the tree contains the last. */
  readonly duplicates: readonly Fault[]
  /** Why the tree is incomplete; empty = it is complete. */
  readonly faults: readonly Fault[]
  /** What each alias refers to. */
  readonly aliasTargets: ReadonlyMap<unknown, unknown>
}

/** More than any config has, so that later walks through the tree cannot overflow the stack. */
const depthMax = 100

/** How many values aliases may add, as ten lines of aliases can expand to billions of values. */
const copiesMax = 100_000

/**
 * Makes a plain tree of a YAML node, with a separate copy for each alias. In the library all aliases of an anchor are
 * the same map, so the defaults of one option would show up in another.
 */
export function readTree(contents: unknown): TreeReadResult {
  const walk: Walk = {
    duplicates: [],
    faults: [],
    copies: 0,
    aliasTargets: new Map(),
    anchors: new Map(),
    ancestors: new Set(),
  }
  const tree = readNode(walk, contents, { path: [], alias: undefined })
  const { duplicates, faults, aliasTargets } = walk
  return { tree, duplicates, faults, aliasTargets }
}

/** The state of the walk through a document. */
interface Walk {
  readonly duplicates: Fault[]
  readonly faults: Fault[]
  readonly aliasTargets: Map<unknown, unknown>
  readonly anchors: Map<string, unknown>
  /** Maps and lists that contain the current node: an alias to one of them is circular. */
  readonly ancestors: Set<unknown>
  /** How many values came from aliases. */
  copies: number
}

interface NodeContext {
  readonly path: Path
  /** The outermost alias that the value comes from; undefined if it is written here. */
  readonly alias: { readonly node: Alias; readonly path: Path } | undefined
}

function readNode(walk: Walk, node: unknown, context: NodeContext): unknown {
  const { path, alias } = context
  if (alias && ++walk.copies > copiesMax) {
    return walk.copies === copiesMax + 1 ? addFault(walk, alias, aliasLimitMessage) : null
  }
  if (path.length > depthMax) return addFault(walk, alias ?? { node, path }, depthLimitMessage)
  if (isAlias(node)) return readAlias(walk, node, context)
  if (isNode(node) && node.anchor !== undefined && !alias) walk.anchors.set(node.anchor, node)
  if (!isMap(node) && !isSeq(node)) return isScalar(node) ? node.value : null
  walk.ancestors.add(node)
  const value = isMap(node) ? readPairs(walk, node.items, context) : readItems(walk, node.items, context)
  walk.ancestors.delete(node)
  return value
}

function readAlias(walk: Walk, node: Alias, { path, alias }: NodeContext): unknown {
  const { aliasTargets, anchors, ancestors } = walk
  // An anchor may be defined twice: an alias refers to the one before it, even if the alias itself is copied.
  if (!alias) aliasTargets.set(node, anchors.get(node.source))
  const target = aliasTargets.get(node)
  const problem =
    target === undefined
      ? `unknown anchor *${node.source}: quote a text that begins with *`
      : ancestors.has(target)
        ? `the alias *${node.source} is circular: it refers to a part of the file that contains it`
        : undefined
  if (problem === undefined) return readNode(walk, target, { path, alias: alias ?? { node, path } })
  // In a copy, the fault has already been reported at the original.
  return alias ? null : addFault(walk, { node, path }, problem)
}

function readItems(walk: Walk, items: readonly unknown[], { path, alias }: NodeContext): unknown[] {
  return items.map((item, index) => {
    const context = { path: [...path, index], alias }
    // Only a list with a tag, such as !!omap, has pairs as items.
    return isPair(item) ? readPairs(walk, [item], context) : readNode(walk, item, context)
  })
}

function readPairs(walk: Walk, pairs: readonly Pair[], { path, alias }: NodeContext): unknown {
  const members = new Map<string, unknown>()
  for (const { key, value } of pairs) {
    // Only for its anchors and aliases.
    readNode(walk, key, { path: [...path, ''], alias })
    const name = nameOf(key, walk.aliasTargets)
    const context = { path: [...path, name], alias }
    if (members.has(name) && !alias) {
      walk.duplicates.push({ offset: offsetOf(key) ?? 0, path: context.path, message: duplicateMessage })
    }
    members.set(name, readNode(walk, value, context))
  }
  // fromEntries defines own properties: a name such as __proto__ must become an unknown option, not a prototype.
  return Object.fromEntries(members)
}

function addFault(
  { faults }: Walk,
  at: { readonly node: unknown; readonly path: Path },
  message: string,
): null {
  faults.push({ offset: offsetOf(at.node) ?? 0, path: at.path, message })
  return null
}

const duplicateMessage = 'is duplicated: remove one'
const aliasLimitMessage = 'the aliases (*name) expand to too many values'
const depthLimitMessage = 'it is nested too deeply'

/** The name of a member as text, even if it is a number. A key that is not a name is reported as an unknown option. */
function nameOf(key: unknown, aliasTargets: ReadonlyMap<unknown, unknown>): string {
  const node = isAlias(key) ? aliasTargets.get(key) : key
  if (isScalar(node)) return String(node.value ?? '')
  return isSeq(node) ? '[…]' : '{…}'
}

function offsetOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined
}

/** Finds options in the text of a YAML file. @param aliasTargets what each alias refers to */
export function createLocator(contents: unknown, aliasTargets: ReadonlyMap<unknown, unknown>) {
  // Cached, as there may be a look-up for each option, and searching a large map each time would take minutes.
  const pairsOf = new Map<unknown, ReadonlyMap<string, Pair>>()

  /** Where the value at a path begins; if it is not in the file, where the nearest parent begins. */
  function offsetOfValue(path: Path): number {
    for (let length = path.length; length > 0; length--) {
      const offset = offsetOf(nodeAt(path.slice(0, length)))
      if (offset !== undefined) return offset
    }
    return 0
  }

  /** Where the name of the option at a path begins; an item of a list has no name, so its value is used instead. */
  function offsetOfKey(path: Path): number {
    const pair = pairOf(targetOf(nodeAt(path.slice(0, -1))), path.at(-1))
    return offsetOf(pair?.key) ?? offsetOfValue(path)
  }

  function nodeAt(path: Path): unknown {
    let node = contents
    for (const part of path) {
      const parent = targetOf(node)
      node = isSeq(parent) ? parent.items[Number(part)] : pairOf(parent, part)?.value
    }
    return node
  }

  function targetOf(node: unknown): unknown {
    return isAlias(node) ? aliasTargets.get(node) : node
  }

  /** The last of several pairs with the same name, as its value counts. */
  function pairOf(map: unknown, name: string | number | undefined): Pair | undefined {
    if (!isMap(map)) return undefined
    const known = pairsOf.get(map) ?? new Map(map.items.map((pair) => [nameOf(pair.key, aliasTargets), pair]))
    pairsOf.set(map, known)
    return known.get(String(name))
  }

  return { offsetOfValue, offsetOfKey }
}
