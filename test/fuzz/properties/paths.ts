import fc from 'fast-check'
import { parseRequestTarget } from '#gateway/routes/request-target.ts'
import { createRouteTable } from '#gateway/routes/table.ts'
import { compileOne } from '../../gateway/routes/examples.ts'
import { type Property, propertyOfSome } from '../property.ts'
import { type Router, routers } from '../routers.ts'

const segment = fc.constantFrom('orders', 'Orders', 'refunds', 'admin', 'v1', 'kiss', 'caf%C3%A9')
const prefix = fc.array(segment, { minLength: 1, maxLength: 3 }).map((segments) => `/${segments.join('/')}`)

/** Ways to write something that some backend takes for the same. */
const change = fc.record({
  at: fc.nat(60),
  kind: fc.constantFrom(
    'case',
    'case',
    'escape',
    'slash',
    'backslash',
    'parameter',
    'twice',
    'double',
    'fold',
    'drop',
  ),
})

type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never

const encodedSlashes = { slash: '%2F', backslash: '%5C', double: '%252F' } as const

function changed(path: string, { at, kind }: Change): string {
  const start = at % path.length
  const character = path[start] ?? ''
  const slash = path.indexOf('/', start + 1)
  const replaced = (index: number, text: string) => `${path.slice(0, index)}${text}${path.slice(index + 1)}`
  switch (kind) {
    case 'case':
      return replaced(
        start,
        character === character.toLowerCase() ? character.toUpperCase() : character.toLowerCase(),
      )
    case 'escape':
      return /[a-z]/i.test(character) && path[start - 1] !== '%' && path[start - 2] !== '%'
        ? replaced(start, `%${character.charCodeAt(0).toString(16)}`)
        : path
    case 'slash':
    case 'backslash':
    case 'double': {
      const encoded = encodedSlashes[kind]
      return slash === -1 ? path + encoded.toLowerCase() : replaced(slash, encoded)
    }
    case 'twice':
      return slash === -1 ? path : replaced(slash, '/%2F')
    case 'parameter':
      return slash === -1 ? `${path};x` : replaced(slash, at % 2 === 0 ? ';x/' : ';x%2F')
    case 'fold':
      return path.replace('k', '%E2%84%AA').replace('ss', 'ß').replace('ß', '%C3%9F')
    case 'drop':
      return slash === -1 ? path : path.slice(0, slash)
    default:
      return kind satisfies never
  }
}

const asked = fc.record({
  prefixes: fc.uniqueArray(prefix, { minLength: 1, maxLength: 5 }),
  path: fc.tuple(prefix, fc.constantFrom('', '/', '/x', '/Refunds')).map(([start, end]) => start + end),
  chosen: fc.nat(),
  // Other paths are rarely read by anybody.
  isOfRoute: fc.nat(4).map((number) => number > 0),
  changes: fc.array(change, { maxLength: 4 }),
})

type Asked = typeof asked extends fc.Arbitrary<infer Value> ? Value : never

/** @returns whether there was something to compare: both read the path */
function readsOnlyItsRoute(
  { foldsCase, readerOf }: Router,
  { prefixes, path, chosen, isOfRoute, changes }: Asked,
): boolean {
  const start = isOfRoute ? (prefixes[chosen % prefixes.length] ?? path) : path
  const sent = changes.reduce(changed, start)
  const routes = prefixes.map((path) => compileOne({ name: path, path, caseSensitive: !foldsCase }))
  const target = parseRequestTarget(sent)
  const match = target && createRouteTable(routes).match('any.example', target, 'GET')
  const read = readerOf(prefixes)(sent)
  if (match === undefined || match.kind === 'ambiguous' || read === undefined) return false
  const own = match.kind === 'route' ? match.route.prefix : undefined
  // A backend that decodes less than the gateway may find a shorter prefix of the same path, or none.
  const fold = (text: string) => (foldsCase ? text.toLowerCase() : text)
  const isWithin = own !== undefined && (own === read || fold(own).startsWith(fold(`${read}/`)))
  if (!isWithin)
    throw new Error(`${sent} is for ${own ?? 'no route'}, and read as ${read} of ${prefixes.join(' ')}`)
  return true
}

/** About a third are: the others are refused as ambiguous, or the router finds nothing. */
const leastCompared = 0.1

export const pathProperties: readonly Property[] = routers.map((router) =>
  propertyOfSome(
    `a path that passes for one route is never read as a path of another by a router: ${router.name}`,
    asked,
    (input) => readsOnlyItsRoute(router, input),
    leastCompared,
  ),
)
