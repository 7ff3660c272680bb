import t from 'tap'
import { formatPath } from '#config/problem.ts'
import { parseDurationMs, parseSizeBytes } from '#config/units.ts'
import { validate } from '#config/validate.ts'
import { allNodes, everything, type PlacedNode, withValue } from './nodes.ts'

interface Bounds {
  readonly path: PlacedNode['path']
  readonly inside: readonly unknown[]
  readonly outside: readonly unknown[]
}

/** The bounds of an option: at each limit, one beyond it, and far beyond. */
function boundsOf({ path, node }: PlacedNode): Bounds[] {
  if (node.duration) return [{ path, ...around(node.duration, parseDurationMs, (ms) => `${ms}ms`) }]
  if (node.size) return [{ path, ...around(node.size, parseSizeBytes, (bytes) => `${bytes}B`) }]
  if (node.minimum === undefined || node.maximum === undefined) return []
  const { minimum, maximum } = node
  const halves = node.type === 'integer' ? [minimum + 0.5] : []
  const beyond = [minimum - 1, maximum + 1, -1e15, 1e15, ...halves, String(minimum)]
  return [{ path, inside: [minimum, maximum], outside: beyond }]
}

function around(
  { min, max }: { readonly min: string; readonly max: string },
  parse: (text: string) => number | undefined,
  write: (amount: number) => string,
) {
  const least = parse(min) ?? Number.NaN
  const most = parse(max) ?? Number.NaN
  const nextOfItsUnit = max.replace(/^\d+/, (amount) => String(Number(amount) + 1))
  const beyond = [write(least - 1), write(most + 1), nextOfItsUnit, `9999${max}`, least, '', 'soon']
  return { inside: [min, max, write(least)], outside: beyond }
}

function complaintsAbout(path: PlacedNode['path'], value: unknown) {
  const tree = withValue(everything, path, value)
  // The cast is sound: the path of an option goes into the tree, which stays a map.
  return validate(tree as Record<string, unknown>).findings.map((finding) => ({
    at: formatPath(finding.path),
    message: finding.message,
  }))
}

const bounded = allNodes().flatMap(boundsOf)

t.test('the config that option bounds are tried in is valid itself', async (t) => {
  t.strictSame(validate(everything).findings, [])
})

for (const { path, inside, outside } of bounded) {
  const option = formatPath(path)
  t.test(`${option} takes its limits and nothing beyond, and says what they are`, async (t) => {
    for (const value of inside) t.strictSame(complaintsAbout(path, value), [], JSON.stringify(value))
    for (const value of outside) {
      const [complaint, ...others] = complaintsAbout(path, value)
      t.equal(complaint?.at, option, JSON.stringify(value))
      t.match(complaint?.message, new RegExp(`from ${inside[0]} to ${inside[1]}`))
      t.strictSame(others, [])
    }
  })
}

t.test('lifetimes may be as short as a second, tolerances and graces zero', async (t) => {
  const shortest = new Map(bounded.map(({ path, inside }) => [formatPath(path), inside[0]]))
  for (const name of ['accessLifetime', 'refreshLifetime', 'refreshIdle'])
    t.equal(shortest.get(`tokens.${name}`), '1s', name)
  for (const name of ['reuseGrace', 'clockTolerance']) t.equal(shortest.get(`tokens.${name}`), '0s', name)
})

t.test('every number, duration and size of the schema is bounded', async (t) => {
  const numbers = allNodes().filter(
    ({ node }) => node.type === 'integer' || node.type === 'number' || node.duration || node.size,
  )
  t.strictSame(
    bounded.map(({ path }) => formatPath(path)),
    numbers.map(({ path }) => formatPath(path)),
  )
  t.ok(bounded.length >= 20, `only ${bounded.length} were found`)
})
