/** What answers to one request say of CORS (https://fetch.spec.whatwg.org/#http-cors-protocol). */
export interface CrossOrigin {
  /** The page that may read them; undefined = none. */
  readonly origin: string | undefined
  /** Names and values for an answer of the gateway itself. */
  readonly fields: readonly (readonly [name: string, value: string])[]
  /** The same as field lines, each ended by CR LF. */
  readonly lines: string
}

/** What a page may read of an answer beside the few fields that every page may. */
const exposed = [
  'X-Request-Id',
  'Retry-After',
  'WWW-Authenticate',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
]

/** @param origin of a page that may call; undefined = the answer is for no page, which caches must be told too */
export function createCrossOrigin(origin: string | undefined): CrossOrigin {
  const fields = [...originFields(origin, exposed), ['Vary', 'Origin'] as const]
  return { origin, fields, lines: fields.map(([name, value]) => `${name}: ${value}\r\n`).join('') }
}

function originFields(origin: string | undefined, names: readonly string[]) {
  if (origin === undefined) return []
  return [
    ['Access-Control-Allow-Origin', origin],
    ['Access-Control-Allow-Credentials', 'true'],
    ['Access-Control-Expose-Headers', names.join(', ')],
  ] as const
}

/**
 * The header fields of an upstream's answer with what the gateway says of CORS in the place of what the upstream
 * says: only the names that it exposes are kept, as nobody else knows them.
 * @param headers name, value, name, value, as they arrived
 */
export function withCrossOrigin(headers: readonly string[], { origin }: CrossOrigin): readonly string[] {
  const kept: string[] = []
  const names = new Map(exposed.map((name) => [name.toLowerCase(), name]))
  let varies = false
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? ''
    const value = headers[index + 1] ?? ''
    const lower = name.toLowerCase()
    if (lower === 'access-control-expose-headers') addNames(names, value)
    if (lower.startsWith('access-control-')) continue
    if (lower === 'vary') varies ||= /(?:^|,)[ \t]*(?:origin|\*)[ \t]*(?:,|$)/i.test(value)
    kept.push(name, value)
  }
  for (const [name, value] of originFields(origin, [...names.values()])) kept.push(name, value)
  if (!varies) kept.push('Vary', 'Origin')
  return kept
}

/** The fields of an interim answer, which say nothing of CORS. */
export function withoutCrossOrigin(headers: readonly string[]): readonly string[] {
  return headers.filter(
    (_, index) => !headers[index - (index % 2)]?.toLowerCase().startsWith('access-control-'),
  )
}

/** `*` is left out: to a request with credentials it is a name like any other. */
function addNames(names: Map<string, string>, value: string): void {
  for (const part of value.split(',')) {
    const name = part.trim()
    const lower = name.toLowerCase()
    if (name !== '' && name !== '*' && !names.has(lower)) names.set(lower, name)
  }
}
