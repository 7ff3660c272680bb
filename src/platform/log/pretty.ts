import { styleText } from 'node:util'
import { parseJsonObject } from '../json.ts'
import { printable } from '../text.ts'

type Style = Parameters<typeof styleText>[0]

const levels: Readonly<Record<string, readonly [label: string, style: Style]>> = {
  debug: ['DEBUG', 'gray'],
  info: ['INFO ', 'green'],
  warn: ['WARN ', 'yellow'],
  error: ['ERROR', 'red'],
  fatal: ['FATAL', ['bold', 'red']],
}

/** The members that begin a line, in this order; all others follow with their names. */
const leading: readonly string[] = ['level', 'time', 'msg', 'method', 'path', 'status', 'durationMs', 'err']
const plain = /^[\w@%+=:,./[\]-]+$/

/**
 * Whether standard output shows colours: it is a terminal that supports them, and NO_COLOR is not set; or FORCE_COLOR
 * is.
 */
export function hasColors(): boolean {
  return styleText('red', '.', { stream: process.stdout }) !== '.'
}

/**
 * A line of the log, a JSON object, formatted for people: time, level, what happened, and the other members by name.
 */
export function prettyLine(line: string, { hasColors }: { readonly hasColors: boolean }): string {
  const members = parseJsonObject(line)
  if (!members) return line
  const style = (as: Style, text: string) =>
    hasColors ? styleText(as, text, { validateStream: false }) : text
  const { level, time, msg, err, ...others } = members
  const [label, color] = levels[String(level)] ?? [String(level), 'gray']
  const words = [
    style('gray', String(time).slice('2026-11-23T'.length)),
    style(color, label),
    isRequest(members) ? requestText(members, style) : printable(String(msg)),
    ...Object.entries(others)
      .filter(([name]) => !(isRequest(members) && leading.includes(name)))
      .map(([name, value]) => style('gray', `${printable(name)}=`) + valueText(value)),
  ]
  return `${words.join(' ')}\n${errorLines(err)
    .map((text) => `  ${style('gray', text)}\n`)
    .join('')}`
}

/** A request that could be parsed: the others have no method. */
function isRequest({ msg, method }: Readonly<Record<string, unknown>>): boolean {
  return msg === 'request' && typeof method === 'string'
}

function requestText(
  { method, path, status, durationMs }: Readonly<Record<string, unknown>>,
  style: (as: Style, text: string) => string,
): string {
  const answer = style(styleOfStatus(Number(status)), String(status))
  return `${printable(String(method))} ${printable(String(path))} ${answer} ${Number(durationMs).toFixed(1)} ms`
}

function styleOfStatus(status: number): Style {
  if (status >= 500) return 'red'
  if (status >= 400) return 'yellow'
  return status >= 300 ? 'cyan' : 'green'
}

function valueText(value: unknown): string {
  const isPlain = typeof value !== 'string' || plain.test(value)
  return printable(isPlain && typeof value !== 'object' ? String(value) : JSON.stringify(value))
}

/** An error with its stack and causes, as `describeError` writes them. */
function errorLines(err: unknown): readonly string[] {
  if (typeof err !== 'object' || err === null) return []
  const { name, message, code, stack, cause } = err as Readonly<Record<string, unknown>>
  const text =
    typeof stack === 'string' ? stack : `${name}: ${message}${code === undefined ? '' : ` (${code})`}`
  const causes = errorLines(cause).map((line, index) => (index === 0 ? `caused by ${line}` : line))
  return [...text.split('\n').map(printable), ...causes]
}
