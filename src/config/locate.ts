import { type Document, isAlias, isMap, isNode, isPair, isSeq, visit } from 'yaml'
import type { Path } from './problem.ts'

/** Where the value at a path begins; that of the nearest part above it where it is not written. */
export function offsetOfValue(document: Document, path: Path): number {
  for (let length = path.length; length > 0; length--) {
    const offset = offsetOfNode(nodeAt(document, path.slice(0, length)))
    if (offset !== undefined) return offset
  }
  return 0
}

/** Where the name of the option at a path begins; an item of a list has none, and its value stands for it. */
export function offsetOfKey(document: Document, path: Path): number {
  const parent = nodeAt(document, path.slice(0, -1))
  const pair = pairOf(isAlias(parent) ? parent.resolve(document) : parent, path.at(-1))
  return offsetOfNode(pair?.key) ?? offsetOfValue(document, path)
}

/** The path of the option whose name begins at an offset. */
export function pathOfKey(document: Document, offset: number): Path {
  let path: Path = []
  visit(document, {
    Pair(_key, pair, ancestors) {
      if (offsetOfNode(pair.key) !== offset) return undefined
      path = pathOf([...ancestors, pair])
      return visit.BREAK
    },
  })
  return path
}

function pathOf(nodes: readonly unknown[]): Path {
  return nodes.flatMap((node, index): Path => {
    if (isPair(node)) return [textOf(node.key)]
    return isSeq(node) ? [node.items.indexOf(nodes[index + 1])] : []
  })
}

function nodeAt(document: Document, path: Path): unknown {
  let node: unknown = document.contents
  for (const part of path) {
    const parent = isAlias(node) ? node.resolve(document) : node
    node = isSeq(parent) ? parent.items[Number(part)] : pairOf(parent, part)?.value
  }
  return node
}

/** Compared as texts: a name in the file may be written as a number. Of two the last, whose value is read. */
function pairOf(map: unknown, name: string | number | undefined) {
  return isMap(map) ? map.items.findLast(({ key }) => textOf(key) === String(name)) : undefined
}

function textOf(key: unknown): string {
  return String(isNode(key) ? key.toJSON() : key)
}

function offsetOfNode(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined
}
