/**
 * A credential that an option is, without the white space around it: one that was read from a file ends with a line
 * break.
 * @throws TypeError that names the option
 */
export function toCredential(value: unknown, option: string): string {
  if (value !== undefined && typeof value !== 'string') throw new TypeError(`${option} must be a string`)
  const text = value?.trim()
  if (text) return text
  const state = value === undefined ? 'undefined' : 'empty'
  throw new TypeError(`${option} is ${state}: leave it out, or is its variable unset?`)
}
