import { isBelow } from './stripped-prefix.ts'

/** An origin and what follows it; a path alone has no origin. */
const reference = /^((?:https?:\/\/[^/?#<>]+)?)(\/.*)$/i

/**
 * The value of `If` (RFC 4918 10.4) for a backend that does not see a prefix: the resources that its lists are about lose
 * it. One below another path stays as it is, and so names nothing that the backend has. Tokens and entity tags, which are
 * within parentheses, are not touched.
 * @param prefix that was stripped: `/files`
 */
export function withoutPrefixInIf(value: string, prefix: string): string {
  if (!value.includes(prefix)) return value
  let written = ''
  let isInList = false
  let isQuoted = false
  // After it nothing closes: looking for it from each `<` would cost the square of their number.
  const lastEnd = value.lastIndexOf('>')
  for (let index = 0; index < value.length; index++) {
    const character = value[index] ?? ''
    if (character === '"') isQuoted = isInList && !isQuoted
    else if (!isQuoted && (character === '(' || character === ')')) isInList = character === '('
    const end = character === '<' && !isInList && index < lastEnd ? value.indexOf('>', index) : -1
    if (end === -1) written += character
    else {
      written += `<${stripped(value.slice(index + 1, end), prefix)}>`
      index = end
    }
  }
  return written
}

function stripped(resource: string, prefix: string): string {
  const [, origin = '', path = ''] = reference.exec(resource) ?? []
  if (!isBelow(path, prefix)) return resource
  const rest = path.slice(prefix.length)
  return `${origin}${rest.startsWith('/') ? '' : '/'}${rest}`
}
