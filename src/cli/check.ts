import { readConfig } from '../config/load.ts'
import { listProblems } from '../config/problem.ts'
import { findWarnings } from '../config/warnings.ts'
import { createOwnPaths } from '../http/own-paths.ts'
import { compileRoutes } from '../routes/compile.ts'
import { createRouteTable } from '../routes/table.ts'
import type { Command } from './command.ts'
import { printData } from './print.ts'

export const checkCommand: Command = {
  name: 'check',
  operands: [],
  summary: 'Reads the whole config, prints every problem and warns of what is risky.',
  printsData: true,
  run: async (invocation) => {
    const reading = readConfig(invocation.config)
    const problems = listProblems(reading.problems)
    const warnings = reading.config
      ? listProblems(findWarnings(reading, createOwnPaths(reading.config.portal), invocation.config))
      : []
    const routes = reading.config ? buildRoutes(reading.config) : 0
    const verdict =
      problems.length === 0
        ? `${reading.file} is good: ${count(routes, 'route')}, ${count(reading.config?.upstreams.length ?? 0, 'upstream')}.`
        : `${reading.file} has ${count(reading.problems.length, 'problem')}.`
    printData(invocation, { file: reading.file, isValid: problems.length === 0, problems, warnings }, [
      ...problems,
      ...warnings.map((warning) => `warning: ${warning}`),
      verdict,
    ])
    return problems.length === 0 ? 0 : 1
  },
}

/** Builds the real table: a config whose table cannot be built must not pass. It connects to nothing. */
function buildRoutes({ routes, upstreams }: NonNullable<ReturnType<typeof readConfig>['config']>): number {
  const byName = new Map(upstreams.map((upstream) => [upstream.name, upstream]))
  return createRouteTable(compileRoutes(routes, byName)).routes.length
}

function count(number: number, thing: string): string {
  return `${number} ${thing}${number === 1 ? '' : 's'}`
}
