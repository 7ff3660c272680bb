import t, { type Test } from 'tap'
import { findWarnings } from '#config/warnings/find-warnings.ts'
import { createOwnPaths } from '#gateway/routes/own-paths.ts'
import { minimalConfig, read } from './config-fixtures.ts'

// slow: takes the time of very long configs
// timed: takes the time of very long configs

const backend = minimalConfig.upstreams.backend
const upstreams = JSON.stringify(minimalConfig.upstreams)

interface Part {
  /** A route by its number; absent = none. */
  route?(index: number): object
  /** Further upstreams, by their number. */
  upstream?(index: number): string
  /** A line of options by its number. */
  line?(index: number): string
}

const route = { path: '/', upstream: 'backend', auth: 'any' }

const parts: Readonly<Record<string, Part>> = {
  'open routes': { route: (index) => ({ path: `/p${index}`, auth: 'none' }) },
  'hosts with a protected and an open route': {
    route: (index) => ({ host: `h${index >> 1}`, ...(index % 2 === 1 && { path: '/open', auth: 'none' }) }),
  },
  'protected and open routes of one backend that strip their prefix and share no method': {
    route: (index) => ({
      path: `/p${index}`,
      stripPrefix: true,
      methods: ['POST'],
      ...(index % 2 === 1 && { methods: ['GET'], auth: 'none' }),
    }),
  },
  'routes with something wrong': { route: (index) => ({ path: `/p${index}`, auth: 'all', nope: 1 }) },
  'routes that name no upstream that is there': {
    route: (index) => ({ path: `/p${index}`, upstream: `upstream-${index}` }),
    upstream: (index) => `other-${index}`,
  },
  'unknown options': { line: (index) => `option${index}: 1` },
  'options that are there twice': { line: () => 'version: 1' },
}

function textOf({ route: member, upstream, line }: Part, count: number): string {
  const numbers = Array.from({ length: count }, (_, index) => index)
  const others = upstream && Object.fromEntries(numbers.map((index) => [upstream(index), backend]))
  const routes = member && numbers.map((index) => ({ ...route, name: `r${index}`, ...member(index) }))
  return [
    `upstreams: ${others ? JSON.stringify({ ...minimalConfig.upstreams, ...others }) : upstreams}`,
    `routes:${routes ? '' : ' []'}`,
    ...(routes ?? []).map((one) => `  - ${JSON.stringify(one)}`),
    ...(line ? numbers.map(line) : []),
  ].join('\n')
}

/** CPU milliseconds for validating a config, as `check` does: other load matters little. */
function cost(t: Test, text: string): number {
  const before = process.cpuUsage()
  const reading = read(t, text)
  if (reading.config) findWarnings(reading, createOwnPaths(reading.config.portal))
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

for (const [what, part] of Object.entries(parts)) {
  t.test(`reading a config takes time linear in its length: ${what}`, async (t) => {
    const [few, many] = [textOf(part, 300), textOf(part, 4_800)]
    cost(t, few)
    const costOfFew = Math.min(...Array.from({ length: 3 }, () => cost(t, few)))
    const costOfMany = cost(t, many)
    // 16 times the length: linear time is 16 times as much, quadratic time 256 times.
    t.ok(costOfMany < 64 * costOfFew, `${costOfMany.toFixed()} ms beside ${costOfFew.toFixed(1)} ms`)
  })
}
