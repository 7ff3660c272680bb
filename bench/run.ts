import { basename } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Bench, missingPeers, openBench } from './bench.ts'
import { readOptions } from './options.ts'
import { writePage } from './page.ts'
import { type Result, readMachine, writeResult } from './results.ts'
import type { Contestant, Figures, Scenario } from './scenarios/scenario.ts'
import { scenarios } from './scenarios/scenarios.ts'
import { inScope } from './scope.ts'
import { peerNames } from './subjects/peers.ts'
import { tableOf, withLabel } from './table.ts'
import { warmUpTurns } from './warm-up.ts'

/** Measures the gateway and its peers, in turns, and saves the results. `--help` lists the options. */

const { scenarioNames, runs, nameParts, isKept, ...options } = readOptions(process.argv.slice(2))

function progress(text: string): void {
  process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${text}` : `${text}\n`)
}

/** Each contestant once per run, after the runs that warm up. */
async function takeTurns(
  name: string,
  contestants: readonly Contestant[],
  skipsWarmUp: boolean,
): Promise<Readonly<Record<string, readonly Figures[]>>> {
  const figures = new Map<string, Figures[]>(contestants.map((contestant) => [contestant.name, []]))
  const warmUps = skipsWarmUp ? 0 : warmUpTurns(options.durationMs)
  for (let run = 1 - warmUps; run <= runs; run++) {
    for (const contestant of contestants) {
      progress(`${name}, ${run <= 0 ? 'warming up' : `run ${run} of ${runs}`}: ${contestant.name}`)
      await sleep(options.restMs)
      const measured = await contestant.measure()
      if (run > 0) figures.get(contestant.name)?.push(measured)
    }
  }
  progress('')
  return Object.fromEntries(figures)
}

/** The selected ones; the same contestant of two checkouts one after the other, so that the machine is as fast for both. */
function inTurn(all: readonly Contestant[], gateways: Bench['gateways']): readonly Contestant[] {
  const selected = all.filter(
    ({ name }) => nameParts.length === 0 || nameParts.some((part) => name.includes(part)),
  )
  const [own, other] = gateways
  if (!other) return selected
  const byName = new Map(selected.map((contestant) => [contestant.name, contestant]))
  const twinOf = (contestant: Contestant) => {
    const twin = byName.get(withLabel(contestant.name, own.label, other.label))
    return twin === contestant ? undefined : twin
  }
  const twins = new Set(selected.map(twinOf))
  return selected
    .filter((contestant) => !twins.has(contestant))
    .flatMap((contestant) => {
      const twin = twinOf(contestant)
      return twin ? [contestant, twin] : [contestant]
    })
}

async function runScenario(bench: Bench, name: string, scenario: Scenario): Promise<Result> {
  progress(`${name}: starting`)
  const machine = readMachine()
  const { summary, note, figures, compared, yardsticks, load, skipsWarmUp = false } = scenario
  const contestants = await takeTurns(name, inTurn(await scenario.open(bench), bench.gateways), skipsWarmUp)
  return {
    scenario: name,
    summary,
    note,
    figures,
    compared,
    yardsticks,
    at: new Date().toISOString(),
    machine,
    load: load?.by ?? options.load,
    connections: load?.connections ?? options.connections,
    seconds: options.durationMs / 1_000,
    missing: missingPeers(peerNames),
    contestants,
  }
}

/** Measures one scenario, prints and saves the result. @returns whether that was possible */
async function carryOut(name: string, scenario: Scenario): Promise<boolean> {
  try {
    // Each starts its own subjects, so that no state is left over from the previous scenario.
    const result = await inScope(async (scope) =>
      runScenario(await openBench(scope, options), name, scenario),
    )
    console.log(`\n${result.summary}\n${tableOf(result, otherLabel)}`)
    if (isKept) writeResult(result)
    return true
  } catch (error) {
    console.error(`${name} cannot be measured:`, error)
    return false
  }
}

const otherLabel = options.against && basename(options.against)
const missing = missingPeers(peerNames)
if (missing.length > 0) progress(`left out, for their programs are not on PATH: ${missing.join(', ')}`)
for (const name of scenarioNames) {
  const scenario = scenarios[name]
  if (!scenario || !(await carryOut(name, scenario))) process.exitCode = 1
}
if (isKept) writePage()
