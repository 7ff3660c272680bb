import { isUtf8 } from 'node:buffer'
import { existsSync } from 'node:fs'
import { isAbsolute, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Document, isScalar, LineCounter, parseDocument, visit, type YAMLError } from 'yaml'
import { errorMessage, hasErrorCode, OperatorError } from '#platform/errors/operator-error.ts'
import { readAtMost } from '#platform/files.ts'
import { isRecord } from '#platform/json.ts'
import { isBinary } from '#platform/package.ts'
import type { Path, Problem, Source } from './problem.ts'
import { createLocator, type Fault, readTree } from './tree.ts'

/** A config file as read: a plain tree, and the position of each part. */
export interface ConfigFile {
  /** If an option is duplicated, the last one is in the tree. */
  readonly tree: Record<string, unknown>
  readonly problems: readonly Problem[]
  /** Whether the tree is complete, so that it is worth searching for further problems. */
  readonly isReadable: boolean
  /** The position of the value at a path; if it is not in the file, that of the nearest parent. */
  locate(path: Path): Source
  /** The position of the name of the option at a path. */
  locateKey(path: Path): Source
}

/** More than any config needs. A single-process gateway serves no requests while it reads a config. */
const configBytesMax = 8 * 1_048_576

/**
 * Reads a YAML 1.2 file. Duplicate keys and broken YAML are problems, not exceptions.
 * @param text default: the content of the file
 * @throws OperatorError if the file does not exist, may not be read, or is not UTF-8
 */
export function readConfigFile(file: string, text = readText(file)): ConfigFile {
  const lines = new LineCounter()
  // Warnings would be written to standard error; whatever they are about is rejected by the schema.
  const options = { lineCounter: lines, merge: false, strict: true, logLevel: 'error' } as const
  // The library would compare each name with all previous ones; readTree finds duplicates faster.
  const document = parseDocument(text, { ...options, uniqueKeys: false })
  const { tree, faults, isReadable, aliasTargets } = readDocument(document)
  const locator = createLocator(document.contents, aliasTargets)
  const sourceAt = (offset: number): Source => {
    const { line, col } = lines.linePos(offset)
    return { kind: 'file', file, line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  return {
    tree,
    isReadable,
    problems: faults.map(({ offset, path, message }) => ({ source: sourceAt(offset), path, message })),
    locate: (path) => sourceAt(locator.offsetOfValue(path)),
    locateKey: (path) => sourceAt(locator.offsetOfKey(path)),
  }
}

/**
 * The path of a config that comes with the program, at the same relative place for the sources and the build.
 * @returns undefined if the program was installed without it, or is a single file
 */
export function shippedConfig(name: 'gateway.yaml' | 'gateway.example.yaml'): string | undefined {
  const path = fileURLToPath(new URL(`../../config/${name}`, import.meta.url))
  if (isBinary || !existsSync(path)) return undefined
  const fromHere = relative('', path)
  return fromHere.startsWith('..') || isAbsolute(fromHere) ? path : fromHere
}

function readText(file: string): string {
  const bytes = readBytes(file)
  const problem = encodingProblem(bytes)
  if (problem === undefined) return bytes.toString('utf8')
  throw new OperatorError(`cannot read the config file ${file}: ${problem}`, {
    hint: 'Save it as UTF-8, or convert it with iconv: a config file is always UTF-8.',
  })
}

/** Otherwise, invalid bytes would silently become other characters. */
function encodingProblem(bytes: Buffer): string | undefined {
  if (isUtf8(bytes)) return undefined
  const mark = bytes.toString('hex', 0, 2)
  return mark === 'fffe' || mark === 'feff' ? 'it is UTF-16' : `line ${firstBrokenLine(bytes)} is not UTF-8`
}

function firstBrokenLine(bytes: Buffer): number {
  const newline = 0x0a
  let [line, start] = [1, 0]
  // No UTF-8 character contains the byte of a line break, so lines can be checked one by one.
  for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, start)) {
    if (!isUtf8(bytes.subarray(start, end))) return line
    line++
    start = end + 1
  }
  return line
}

function readBytes(file: string): Buffer {
  try {
    return readAtMost(file, configBytesMax)
  } catch (cause) {
    const reason = hasErrorCode(cause, 'EISDIR') ? 'it is a folder' : errorMessage(cause)
    throw new OperatorError(`cannot read the config file ${file}: ${reason}`, { hint: hint(cause), cause })
  }
}

function hint(cause: unknown): string {
  if (hasErrorCode(cause, 'EISDIR')) return 'Name the file in it with --config FILE or GATEHOUSE_CONFIG.'
  if (hasErrorCode(cause, 'EACCES')) return 'The user that the gateway runs as must be able to read it.'
  const options = shippedConfig('gateway.example.yaml') ?? 'gatehouse config schema'
  return `Name it with --config FILE or GATEHOUSE_CONFIG, or create one: gatehouse init; ${options} shows every option.`
}

function readDocument({ contents, errors }: Document.Parsed) {
  const { tree, duplicates, faults, aliasTargets } = readTree(contents)
  const unreadable = { tree: {}, isReadable: false, aliasTargets }
  const syntaxError = relevantError(errors)
  if (syntaxError)
    return {
      ...unreadable,
      faults: [unclosedQuote(contents, syntaxError) ?? toFault(syntaxError), ...duplicates],
    }
  if (faults.length > 0) return { ...unreadable, faults: [...faults, ...duplicates] }
  // A duplicate does not make the tree unreadable, nor does it hide other problems.
  const options = tree ?? {}
  if (isRecord(options)) return { tree: options, faults: duplicates, isReadable: true, aliasTargets }
  return {
    ...unreadable,
    faults: [...duplicates, { offset: 0, path: [], message: 'must be a map of options' }],
  }
}

/** The first syntax error, as the parser then loses sync and may cause the others itself. */
function relevantError(errors: readonly YAMLError[]): YAMLError | undefined {
  const [first] = errors
  // Of several errors at the same position, this one is about the indentation.
  const isIndentationError = ({ code, pos }: YAMLError) =>
    code === 'MULTILINE_IMPLICIT_KEY' && pos[0] === first?.pos[0]
  return errors.find(isIndentationError) ?? first
}

/** An unclosed quote ends with the file, or far below: it is reported where it opens. */
function unclosedQuote(
  contents: Document.Parsed['contents'],
  { code, message }: YAMLError,
): Fault | undefined {
  const [, quote] = /^Missing closing (['"])quote/.exec(message) ?? []
  if (code !== 'MISSING_CHAR' || quote === undefined) return undefined
  const type = quote === '"' ? 'QUOTE_DOUBLE' : 'QUOTE_SINGLE'
  let offset: number | undefined
  visit(contents, (_key, node) => {
    // The last one, which extends to where the parser gave up.
    if (isScalar(node) && node.type === type) offset = node.range?.[0]
  })
  const detail = `the quote ${quote} that opens here is never closed`
  return offset === undefined ? undefined : { offset, path: [], message: detail }
}

function toFault({ code, message, pos }: YAMLError): Fault {
  return { offset: pos[0], path: [], message: describeError(code, message) }
}

function describeError(code: YAMLError['code'], message: string): string {
  if (code === 'MULTIPLE_DOCS') return 'the file contains more than one document'
  if (code === 'MULTILINE_IMPLICIT_KEY')
    return 'wrong indentation of the line below, or no colon after a name'
  if (/call stack/.test(message)) return 'it is nested too deeply'
  if (/^All mapping items/.test(message))
    return 'wrong indentation: it differs from that of the lines it belongs to'
  if (/^Sequence item without/.test(message)) return 'wrong indentation, or no - before an item of a list'
  return message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? 'not valid YAML'
}
