import { hideSecrets, isCredentialField, secretPlaceholder } from '#platform/secrets/hide-secrets.ts'

/** A header as the upstream would receive it; possible secrets are hidden. */
export interface ShownHeader {
  readonly name: string
  readonly value: string
}

/** Names of query parameters that suggest a secret. */
const secretParameter = /auth|secret|token|passw|api-?_?key|credential|signature/i

/**
 * A header to be shown: the value of a possible credential is hidden, of cookies only the names are shown.
 * @param accept where secret keys may come (`keys.accept`)
 */
export function redactHeader({ name, value }: ShownHeader, accept: readonly string[]): ShownHeader {
  const lower = name.toLowerCase()
  if (lower === 'cookie') return { name, value: redactCookies(value) }
  const isSecret = isCredentialField(name, value) || accept.some((each) => each.toLowerCase() === lower)
  return { name, value: isSecret ? secretPlaceholder : redactTarget(value) }
}

/** A path or URL, with or without query, to be shown. */
export function redactTarget(target: string): string {
  const [first = '', ...others] = target.split('&')
  return hideSecrets(
    [redactParameter(first, false), ...others.map((part) => redactParameter(part, true))].join('&'),
  )
}

/** A part of a URL without `&`. @param isParameter whether it begins with a name; otherwise a name follows a `?` */
function redactParameter(part: string, isParameter: boolean): string {
  const texts = part.split('=')
  const found = texts.findIndex((text, index) => {
    const start = isParameter && index === 0 ? 0 : text.indexOf('?') + 1
    const hasName = (isParameter && index === 0) || start > 0
    return hasName && index < texts.length - 1 && secretParameter.test(text.slice(start))
  })
  return found === -1 ? part : `${texts.slice(0, found + 1).join('=')}=${secretPlaceholder}`
}

function redactCookies(value: string): string {
  const pairs = value.split(';').map((pair) => pair.trim())
  return pairs
    .map((pair) => (pair.includes('=') ? `${pair.split('=', 1)[0]}=${secretPlaceholder}` : secretPlaceholder))
    .join('; ')
}
