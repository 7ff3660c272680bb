import { isDeepStrictEqual } from 'node:util'
import { inScope } from '../../bench/scope.ts'
import { type Case, observe, type Subject } from './case-context.ts'
import { groups } from './groups.ts'
import { startGatehouse, startHaproxy } from './proxies-under-test.ts'
import { startUpstream, type Upstream } from './upstream.ts'

/**
 * The same cases against the gateway and, where it is on PATH, against HAProxy as a plain proxy: prints what is
 * not as expected, and where the two differ. `node test/fidelity/conformance.ts [GROUP…]`; fails for the gateway alone.
 */

interface Outcome {
  readonly observed: unknown
  readonly isExpected: boolean
}

async function outcomeOf(subject: Subject, upstream: Upstream, one: Case): Promise<Outcome> {
  const observed = await observe(subject, upstream, one).catch((error: unknown) => String(error))
  return { observed, isExpected: isDeepStrictEqual(observed, one.expected) }
}

function shorten(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined'
  return text.length > 300 ? `${text.slice(0, 300)}…` : text
}

/** HAProxy writes names of fields in lower case: that alone is not worth a long line. */
function describe(observed: unknown, expected: unknown): string {
  const isSame = JSON.stringify(observed)?.toLowerCase() === JSON.stringify(expected)?.toLowerCase()
  return isSame ? 'as expected but for the case of letters' : shorten(observed)
}

function printDifferences(
  group: string,
  { name, expected }: Case,
  outcomes: readonly (readonly [Subject, Outcome])[],
): void {
  if (outcomes.every(([, { isExpected }]) => isExpected)) return
  console.log(`${group}: ${name}\n  ${'expected'.padEnd(10)}${shorten(expected)}`)
  for (const [subject, { observed, isExpected }] of outcomes) {
    console.log(`  ${subject.name.padEnd(10)}${isExpected ? 'as expected' : describe(observed, expected)}`)
  }
}

async function compare(names: readonly string[]): Promise<boolean> {
  return inScope(async (scope) => {
    const upstream = await startUpstream(scope)
    const gatehouse = await startGatehouse(scope, upstream.url)
    const haproxy = await startHaproxy(scope, upstream.url)
    if (!haproxy) console.log('HAProxy is not on PATH: only the gateway is looked at.')
    const subjects = haproxy ? [gatehouse, haproxy] : [gatehouse]
    const cases = names.flatMap((group) => (groups[group] ?? []).map((one) => ({ group, one })))
    const good = new Map(subjects.map((subject) => [subject, 0]))
    for (const { group, one } of cases) {
      const outcomes: [Subject, Outcome][] = []
      for (const subject of subjects) outcomes.push([subject, await outcomeOf(subject, upstream, one)])
      for (const [subject, { isExpected }] of outcomes)
        good.set(subject, (good.get(subject) ?? 0) + Number(isExpected))
      printDifferences(group, one, outcomes)
    }
    for (const [{ name }, count] of good)
      console.log(`${name}: ${count} of ${cases.length} cases as expected`)
    return good.get(gatehouse) === cases.length
  })
}

const asked = process.argv.slice(2)
if (asked.includes('--help') || asked.includes('-h')) {
  console.log(
    `node test/fidelity/conformance.ts [GROUP…]\n\nGroups: ${Object.keys(groups).join(', ')}; without one, all.`,
  )
  process.exit(0)
}
const stray = asked.find((name) => !groups[name])
if (stray !== undefined) {
  console.error(`no group ${stray}; there are ${Object.keys(groups).join(', ')}`)
  process.exit(2)
}
process.exit((await compare(asked.length > 0 ? asked : Object.keys(groups))) ? 0 : 1)
