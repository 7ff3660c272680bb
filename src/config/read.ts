import { readFileSync } from 'node:fs'
import { type Document, isMap, isNode, isSeq, LineCounter, type Node, type Pair, parseDocument } from 'yaml'
import { OperatorError, reasonOf } from '../errors.ts'
import type { Path, Problem, Source } from './problem.ts'

/** A config file as read: a plain tree, and where each part of it stands. */
export interface ConfigFile {
  readonly tree: Record<string, unknown>
  readonly problems: readonly Problem[]
  /** Where the value at a path stands; that of the nearest part above it where it is not written. */
  locate(path: Path): Source
  /** Where the name of the option at a path stands. */
  locateKey(path: Path): Source
}

/**
 * Reads a YAML 1.2 file. Duplicate keys and broken YAML are problems, not exceptions.
 * @throws OperatorError where there is no such file or it may not be read
 */
export function readConfigFile(file: string): ConfigFile {
  const lines = new LineCounter()
  const document = parseDocument(readText(file), { lineCounter: lines, merge: false, strict: true })
  const sourceAt = (offset: number): Source => {
    const { line, col } = lines.linePos(offset)
    return { kind: 'file', file, line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  const problems = document.errors.map((error) => ({
    source: sourceAt(error.pos[0]),
    path: [],
    message: error.message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? 'not valid YAML',
  }))
  const tree: unknown = problems.length === 0 ? (document.toJS() ?? {}) : {}
  if (!isPlainMap(tree)) {
    return {
      tree: {},
      problems: [{ source: sourceAt(0), path: [], message: 'must be a map of options' }],
      locate: () => sourceAt(0),
      locateKey: () => sourceAt(0),
    }
  }
  return {
    tree,
    problems,
    locate: (path) => sourceAt(offsetOfValue(document, path)),
    locateKey: (path) => sourceAt(offsetOfKey(document, path)),
  }
}

export function isPlainMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new OperatorError(`cannot read the config file ${file}: ${reasonOf(cause)}`, {
      hint: 'Name it with --config FILE or GATEHOUSE_CONFIG; config/gateway.example.yaml shows every option.',
      cause,
    })
  }
}

function offsetOfValue(document: Document, path: Path): number {
  for (let length = path.length; length > 0; length--) {
    const node: unknown = document.getIn(path.slice(0, length), true)
    if (isNode(node) && node.range) return node.range[0]
  }
  return 0
}

function offsetOfKey(document: Document, path: Path): number {
  const parent = path.length > 1 ? document.getIn(path.slice(0, -1), true) : document.contents
  const name = path.at(-1)
  if (isSeq(parent) || !isMap(parent)) return offsetOfValue(document, path)
  const pair = parent.items.find((candidate: Pair) => keyText(candidate.key) === String(name))
  return offsetOfNode(pair?.key) ?? offsetOfValue(document, path)
}

function keyText(key: unknown): string {
  return String(isNode(key) ? key.toJSON() : key)
}

function offsetOfNode(node: unknown): number | undefined {
  return isNode(node) ? (node as Node).range?.[0] : undefined
}
