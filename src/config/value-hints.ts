import { isRecord } from '#platform/json.ts'
import { type Path, type Problem, valueAt } from './problem.ts'
import { schemaAt } from './schema/schema.ts'
import {
  type Bounds,
  durationUnitsMs,
  isDurationWithin,
  isSizeWithin,
  parseDurationMs,
  parseSizeBytes,
} from './units.ts'

// What to write instead of a value in an invalid format: the end of a message, or an empty text.

const durationWords: Readonly<Record<string, string>> = {
  millisecond: 'ms',
  msec: 'ms',
  second: 's',
  sec: 's',
  minute: 'm',
  min: 'm',
  hour: 'h',
  hr: 'h',
  day: 'd',
}
const sizeWords: Readonly<Record<string, string>> = {
  byte: 'B',
  b: 'B',
  k: 'KiB',
  kb: 'KiB',
  kib: 'KiB',
  m: 'MiB',
  mb: 'MiB',
  mib: 'MiB',
  g: 'GiB',
  gb: 'GiB',
  gib: 'GiB',
}

/** In the order in which they are suggested. */
const durationUnits = ['s', 'ms', 'm', 'h', 'd']
const sizeUnits = ['KiB', 'MiB', 'B', 'GiB']
/** A number this large is meant in bytes. */
const plainBytesMin = 1_024

/** For a value that is not a duration, such as `30`, `5 minutes` or `1h30m`; empty if it is only out of range. */
export function durationHint(value: unknown, bounds: Bounds): string {
  if (typeof value === 'string' && parseDurationMs(value) !== undefined) return ''
  const isWithin = (text: string) => isDurationWithin(bounds, text)
  if (isBareNumber(value)) return missingUnit(durationUnits.map((unit) => `${value}${unit}`).filter(isWithin))
  if (typeof value !== 'string') return ''
  const sum = sumOfParts(value)
  if (sum !== undefined) return `: one number and one unit${isWithin(sum) ? `, such as ${sum}` : ''}`
  return correction(withUnit(value, durationWords), isWithin)
}

/** For a value that is not a size, such as `10`, `16 KiB` or `10MB`; empty if it is only out of range. */
export function sizeHint(value: unknown, bounds: Bounds): string {
  if (typeof value === 'string' && parseSizeBytes(value) !== undefined) return ''
  const isWithin = (text: string) => isSizeWithin(bounds, text)
  if (isBareNumber(value)) {
    const units = Number(value) < plainBytesMin ? sizeUnits : ['B']
    return missingUnit(units.map((unit) => `${value}${unit}`).filter(isWithin))
  }
  return typeof value === 'string' ? correction(withUnit(value, sizeWords), isWithin) : ''
}

function isBareNumber(value: unknown): value is number | string {
  return typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value))
}

/** @param suggestions only those that would be accepted, the most likely first */
function missingUnit(suggestions: readonly string[]): string {
  return suggestions.length === 0 ? '' : `: add the unit, such as ${suggestions.slice(0, 2).join(' or ')}`
}

function correction(meant: string | undefined, isWithin: (text: string) => boolean): string {
  return meant !== undefined && isWithin(meant) ? `, did you mean ${meant}?` : ''
}

/**
 * For a secret that was written into the file. It is only repeated if it is the name of a file: anything else may be
 * the secret itself, and messages are logged.
 */
export function secretHint(value: unknown): string {
  const isFileName = typeof value === 'string' && /^[\w./-]{1,100}\.(?:pem|crt|cer|key|txt)$/i.test(value)
  return isFileName ? `write { file: ${value} }` : 'write { file: PATH } or { env: NAME }'
}

/** `1h30m` in its smallest unit; undefined if the value does not have several parts. */
function sumOfParts(value: string): string | undefined {
  if (!/^(?:\d{1,6}(?:ms|s|m|h|d)){2,}$/.test(value)) return undefined
  const parts = [...value.matchAll(/(\d{1,6})(ms|s|m|h|d)/g)]
  // The casts are sound: the pattern names only these units.
  const totalMs = parts.reduce(
    (sum, [, n, unit]) => sum + Number(n) * durationUnitsMs[unit as keyof typeof durationUnitsMs],
    0,
  )
  const unit =
    (['d', 'h', 'm', 's', 'ms'] as const).find((name) => totalMs % durationUnitsMs[name] === 0) ?? 'ms'
  return `${totalMs / durationUnitsMs[unit]}${unit}`
}

/** A number and a word for its unit; undefined if the value is neither. */
function withUnit(value: string, units: Readonly<Record<string, string>>): string | undefined {
  const [, amount, word = ''] = /^(\d+)\s*([a-z]+)$/i.exec(value) ?? []
  const name = word.toLowerCase()
  const known = Object.values(units).find((symbol) => symbol.toLowerCase() === name)
  const unit = known ?? units[name] ?? units[name.replace(/s$/, '')]
  return amount === undefined || unit === undefined ? undefined : amount + unit
}

/**
 * How shells, Compose and templates write a variable that is replaced, which is an error here (docs/decisions/0049).
 */
const reference = /\$\{[^{}]*\}/

/** Whether a value names a variable, and what to do instead; empty if it does not. The value is never repeated. */
function unreplacedHint(value: unknown, path: Path): string {
  if (typeof value !== 'string' || !reference.test(value)) return ''
  const secret = mayBeSecret(path) ? 'write { env: NAME }, or ' : ''
  return `\${…} is not replaced here: ${secret}set ${variableOf(path)} to the whole value`
}

function mayBeSecret(path: Path): boolean {
  const node = schemaAt(path)
  return [node, ...(node?.anyOf ?? [])].some((one) => one?.secret === true)
}

/** Values with a variable that somebody expects to be replaced, anywhere in a tree. */
export function findUnreplaced(node: unknown, path: Path = []): readonly Pick<Problem, 'path' | 'message'>[] {
  if (isRecord(node)) {
    return Object.entries(node).flatMap(([name, member]) => findUnreplaced(member, [...path, name]))
  }
  if (Array.isArray(node)) return node.flatMap((member, index) => findUnreplaced(member, [...path, index]))
  const message = unreplacedHint(node, path)
  return message === '' ? [] : [{ path, message }]
}

/** The variable that overrides an option. */
function variableOf(path: Path): string {
  const parts = path.map((part) =>
    String(part)
      .replaceAll(/(?<=[a-z0-9])[A-Z]/g, '_$&')
      .replaceAll('-', '_')
      .toUpperCase(),
  )
  return `GATEHOUSE__${parts.join('__')}`
}

export function unreplacedHintAt(tree: unknown, path: Path): string {
  return unreplacedHint(valueAt(tree, path), path)
}
