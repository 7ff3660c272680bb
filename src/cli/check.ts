import { readConfig } from '../config/load.ts'
import { formatProblem } from '../config/problem.ts'
import { findWarnings } from '../config/warnings.ts'
import { compileRoutes } from '../routes/compile.ts'
import { createOwnPaths } from '../routes/own-paths.ts'
import { createRouteTable, type RouteTable, routesWithCaseRefusals } from '../routes/table.ts'
import type { Command } from './command.ts'
import { printData } from './print.ts'

export const checkCommand: Command = {
  name: 'check',
  operands: [],
  summary: 'Validates the config: prints every problem, and warnings for risky options.',
  examples: ['gatehouse check', 'gatehouse check --config my-gateway.yaml'],
  printsData: true,
  run: async (invocation) => {
    const reading = readConfig(invocation.config)
    // All of them: a start lists the first ones, and points here for the others.
    const problems = reading.problems.map(formatProblem)
    const warnings = reading.config
      ? findWarnings(
          reading,
          createOwnPaths(reading.config.portal, reading.config.routes),
          invocation.config,
        ).map(formatProblem)
      : []
    const table = reading.config && buildTable(reading.config)
    const notes = table ? caseNotes(table) : []
    const verdict =
      problems.length === 0
        ? `${reading.file} is valid: ${count(table?.routes.length ?? 0, 'route')}, ${count(reading.config?.upstreams.length ?? 0, 'upstream')}.`
        : `${reading.file} has ${count(problems.length, 'problem')}.`
    printData(invocation, { file: reading.file, isValid: problems.length === 0, problems, warnings, notes }, [
      ...problems,
      ...warnings.map((warning) => `warning: ${warning}`),
      ...notes.map((note) => `note: ${note}`),
      verdict,
    ])
    return problems.length === 0 ? 0 : 1
  },
}

/** Builds the real route table, without connecting to anything: a config whose table cannot be built is invalid. */
function buildTable({ routes, upstreams }: NonNullable<ReturnType<typeof readConfig>['config']>) {
  const byName = new Map(upstreams.map((upstream) => [upstream.name, upstream]))
  return createRouteTable(compileRoutes(routes, byName))
}

const namedMax = 20

function caseNotes(table: RouteTable<unknown>): readonly string[] {
  const names = routesWithCaseRefusals(table)
  if (names.length === 0) return []
  const named = names.slice(0, namedMax).map((name) => `"${name}"`)
  const rest = names.length > namedMax ? ` and ${names.length - namedMax} more` : ''
  return [
    `nested routes that reject paths matching the inner route only when case is ignored: ${named.join(', ')}${rest}. If the backend is case-sensitive, set caseSensitive: true to allow them`,
  ]
}

function count(number: number, thing: string): string {
  return `${number} ${thing}${number === 1 ? '' : 's'}`
}
