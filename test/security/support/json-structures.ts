import { repeated, shapes } from './shapes.ts'

/** JSON of a length that has nothing but structure. @param end another one each time */
export const structures: Readonly<Record<string, (length: number, end: string) => string>> = {
  'lists in lists': (length, end) => nested('[', `"${end}"`, ']', length),
  'objects in objects': (length, end) => nested('{"a":', `"${end}"`, '}', length),
  'a list that does not end': (length, end) => '['.repeat(length - end.length) + end,
  'members of different names': (length, end) => `{${repeated('"a{n}":0,', length - 8, '')}"${end}":0}`,
  'members of one name': (length, end) => `{${repeated('"a":0,', length - 8, '')}"${end}":0}`,
  'members __proto__': (length, end) => `{${repeated('"__proto__":{},', length - 8, '')}"${end}":0}`,
  'members constructor': (length, end) =>
    `{${repeated('"constructor":{"prototype":0},', length - 8, '')}"${end}":0}`,
  'items of a list': (length, end) => `[${repeated('"a",', length - 8, '')}"${end}"]`,
  'a number': (length, end) => `${'1'.repeat(length - end.length)}.5`,
  escapes: (length, end) => `"${repeated('\\u0041', length, end)}"`,
}

function nested(open: string, middle: string, close: string, length: number): string {
  const depth = Math.floor((length - middle.length) / (open.length + close.length))
  return open.repeat(depth) + middle + close.repeat(depth)
}

/** Texts of each shape as JSON. */
export function textStructures(): typeof structures {
  return Object.fromEntries(
    shapes.map((shape) => [
      shape,
      (length: number, end: string) => JSON.stringify(repeated(shape, length / 2, end)),
    ]),
  )
}
