import { readFileSync } from 'node:fs'
import { type Document, isNode, LineCounter, parseDocument, visit, type YAMLError } from 'yaml'
import { hasCode, OperatorError, reasonOf } from '../errors.ts'
import { offsetOfKey, offsetOfValue, pathOfKey } from './locate.ts'
import type { Path, Problem, Source } from './problem.ts'
import { shippedConfig } from './shipped.ts'

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
    const reason = hasCode(cause, 'EISDIR') ? 'it is a folder' : reasonOf(cause)
    throw new OperatorError(`cannot read the config file ${file}: ${reason}`, { hint: wayOut(cause), cause })
  }
}

function wayOut(cause: unknown): string {
  if (hasCode(cause, 'EISDIR')) return 'Name the file in it with --config FILE or GATEHOUSE_CONFIG.'
  if (hasCode(cause, 'EACCES')) return 'The user that the gateway runs as must be able to read it.'
  const options = shippedConfig('gateway.example.yaml') ?? 'gatehouse config schema'
  return `Name it with --config FILE or GATEHOUSE_CONFIG; ${options} shows every option.`
}

function readTree(document: Document.Parsed): Reading {
  const faults = tellingErrors(document.errors).map((error) => toFault(error, document))
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

/** Of errors in the form of the file the first: the parser reads on askew, and the others may be of its making. */
function tellingErrors(errors: readonly YAMLError[]): readonly YAMLError[] {
  const first = errors.find(({ code }) => code !== 'DUPLICATE_KEY')
  // Of those in one place it is this one that tells of the indentation.
  const telling = errors.find(
    ({ code, pos }) => code === 'MULTILINE_IMPLICIT_KEY' && pos[0] === first?.pos[0],
  )
  return errors.filter((error) => error.code === 'DUPLICATE_KEY' || error === (telling ?? first))
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
  if (code === 'MULTILINE_IMPLICIT_KEY')
    return 'wrong indentation of the line below, or no colon behind a name'
  if (/call stack/.test(message)) return 'it is nested too deeply'
  if (/^All mapping items/.test(message))
    return 'wrong indentation: it is not that of the lines it belongs to'
  if (/^Sequence item without/.test(message)) return 'wrong indentation, or no - before an item of a list'
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
