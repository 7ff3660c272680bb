import { readFileSync } from 'node:fs'
import { type Document, isNode, LineCounter, parseDocument, visit, type YAMLError } from 'yaml'
import { OperatorError, reasonOf } from '../errors.ts'
import { offsetOfKey, offsetOfValue, pathOfKey } from './locate.ts'
import type { Path, Problem, Source } from './problem.ts'

/** A config file as read: a plain tree, and where each part of it stands. */
export interface ConfigFile {
  /** Of an option that stands there twice, the last. */
  readonly tree: Record<string, unknown>
  readonly problems: readonly Problem[]
  /** Whether the tree is all that the file says, so that more can be found in it than these problems. */
  readonly isReadable: boolean
  /** Where the value at a path stands; that of the nearest part above it where it is not written. */
  locate(path: Path): Source
  /** Where the name of the option at a path stands. */
  locateKey(path: Path): Source
}

interface Fault {
  readonly offset: number
  readonly path?: Path
  readonly message: string
}

interface Reading {
  readonly tree: ConfigFile['tree']
  readonly faults: readonly Fault[]
  readonly isReadable: boolean
}

/**
 * Reads a YAML 1.2 file. Duplicate keys and broken YAML are problems, not exceptions.
 * @throws OperatorError where there is no such file or it may not be read
 */
export function readConfigFile(file: string): ConfigFile {
  const lines = new LineCounter()
  // Warnings would go to standard error past us; all that they are about is refused by the schema.
  const options = { lineCounter: lines, merge: false, strict: true, logLevel: 'error' } as const
  const document = parseDocument(readText(file), options)
  const { tree, faults, isReadable } = readTree(document)
  const sourceAt = (offset: number): Source => {
    const { line, col } = lines.linePos(offset)
    return { kind: 'file', file, line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  return {
    tree,
    isReadable,
    problems: faults.map(({ offset, path = [], message }) => ({ source: sourceAt(offset), path, message })),
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

function readTree(document: Document.Parsed): Reading {
  const faults = document.errors.map((error) => toFault(error, document))
  // What stands there twice is read well, and hides nothing of what else is wrong.
  const isReadable = document.errors.every(({ code }) => code === 'DUPLICATE_KEY')
  if (!isReadable) return { tree: {}, faults, isReadable }
  try {
    const tree: unknown = document.toJS() ?? {}
    if (isPlainMap(tree)) return { tree, faults, isReadable }
    return unreadable([...faults, { offset: 0, message: 'must be a map of options' }])
  } catch {
    return unreadable([...faults, findBadAlias(document)])
  }
}

function unreadable(faults: readonly Fault[]): Reading {
  return { tree: {}, faults, isReadable: false }
}

function toFault(error: YAMLError, document: Document.Parsed): Fault {
  const offset = error.pos[0]
  if (error.code !== 'DUPLICATE_KEY') return { offset, message: describe(error) }
  return { offset, path: pathOfKey(document, offset), message: 'is there twice: only one can count' }
}

function describe({ code, message }: YAMLError): string {
  if (code === 'MULTIPLE_DOCS') return 'the file holds more than one document'
  if (/call stack/.test(message)) return 'it is nested too deeply'
  return message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? 'not valid YAML'
}

/** What else is read well but cannot be made a tree of: aliases of nothing, or of far too much. */
function findBadAlias(document: Document.Parsed): Fault {
  let fault: Fault = { offset: 0, message: 'the aliases (*name) stand for too much' }
  visit(document, {
    Alias(_key, alias) {
      if (isNode(alias.resolve(document))) return undefined
      const message = `there is no anchor for the alias *${alias.source}: a text that begins with * needs quotes`
      fault = { offset: alias.range?.[0] ?? 0, message }
      return visit.BREAK
    },
  })
  return fault
}
