import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { BenchOptions } from './bench.ts'
import { scenarios } from './scenarios/scenarios.ts'
import { isInstalled, type PeerName, peerNames, peers } from './subjects/peers.ts'

export interface RunOptions extends BenchOptions {
  readonly scenarioNames: readonly string[]
  readonly runs: number
  /** Only contestants whose names contain one of these; empty = all. */
  readonly nameParts: readonly string[]
  /** Whether results and page are written. */
  readonly isKept: boolean
}

/** Reads the command line; prints what is wrong with it, or the help, and exits. */
export function readOptions(args: readonly string[]): RunOptions {
  const { values } = parse(args)
  if (values.help) {
    console.log(help())
    process.exit()
  }
  const load = values.load ?? (isInstalled('wrk') ? 'wrk' : 'own')
  if (load !== 'wrk' && load !== 'own') throw refuse(`--load is wrk or own, not ${load}`)
  return {
    scenarioNames: listOf(values.scenario, Object.keys(scenarios), '--scenario'),
    peerNames: listOf(values.peers, peerNames, '--peers'),
    nameParts: values.only?.split(',').filter(Boolean) ?? [],
    against: values.against && resolve(values.against),
    load,
    runs: numberOf(values.runs, '--runs', 1, 100),
    connections: numberOf(values.connections, '--connections', 1, 1_000),
    durationMs: numberOf(values.seconds, '--seconds', 1, 60) * 1_000,
    restMs: numberOf(values.rest, '--rest', 0, 600) * 1_000,
    isKept:
      !values.dry && values.peers === undefined && values.only === undefined && values.against === undefined,
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        scenario: { type: 'string' },
        peers: { type: 'string' },
        only: { type: 'string' },
        against: { type: 'string' },
        load: { type: 'string' },
        runs: { type: 'string', default: '5' },
        seconds: { type: 'string', default: '3' },
        rest: { type: 'string', default: '0' },
        connections: { type: 'string', default: '32' },
        dry: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    throw refuse(error instanceof Error ? error.message : String(error))
  }
}

/** Comma-separated names; all by default. */
function listOf<Name extends string>(
  text: string | undefined,
  known: readonly Name[],
  option: string,
): readonly Name[] {
  if (text === undefined) return known
  const names = text.split(',').filter(Boolean)
  const stray = names.find((name) => !known.some((other) => other === name))
  if (stray !== undefined) throw refuse(`${option}: no ${stray}; there are ${known.join(', ')}`)
  return known.filter((name) => names.includes(name))
}

function numberOf(text: string, option: string, least: number, most: number): number {
  const number = Number(text)
  if (Number.isInteger(number) && number >= least && number <= most) return number
  throw refuse(`${option} is a whole number from ${least} to ${most}, not ${text}`)
}

function refuse(what: string): never {
  console.error(`${what}\n\n${help()}`)
  process.exit(2)
}

function help(): string {
  const lines = (rows: readonly (readonly [string, string])[]) =>
    rows.map(([name, summary]) => `  ${name.padEnd(19)}${summary}`).join('\n')
  return `npm run bench -- [options]

  --scenario NAME,…  only these
  --peers NAME,…     only these beside the gateway
  --only TEXT,…      only contestants whose names contain one of these
  --against FOLDER   another checkout of the gateway beside this one; its turns alternate with this one's
  --runs N           5; each has everybody's turn once
  --seconds N        3; how long a turn takes
  --rest N           0; idle seconds before each turn, for machines that are slowed down after much work
  --connections N    32
  --load wrk|own     what makes the closed loops; wrk where it is on PATH
  --dry              prints, and keeps nothing; so do --peers, --only and --against

Scenarios
${lines(Object.entries(scenarios).map(([name, { summary }]) => [name, summary]))}

Peers
${lines(peerNames.map((name: PeerName) => [name, peers[name].summary]))}

node bench/flame/run.ts: a flame graph of the gateway under load`
}
