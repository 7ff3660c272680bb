import { readFileSync } from 'node:fs'

/** A unit of systemd. */
export interface Unit {
  /** The last value of a setting. @throws Error where there is none */
  value(name: string): string
  /** A command, as words: the unit needs no quotes. */
  words(name: string): readonly string[]
}

export function readUnit(file: string): Unit {
  const settings = new Map<string, string>()
  for (const [, name = '', value = ''] of readFileSync(file, 'utf8').matchAll(/^(\w+)=(.*)$/gm))
    settings.set(name, value)

  function value(name: string): string {
    const found = settings.get(name)
    if (found === undefined) throw new Error(`the unit has no ${name}`)
    return found
  }

  return { value, words: (name) => value(name).split(' ') }
}
