import { type ConfigReadResult, readConfig, showConfig } from '#config/load.ts'
import { formatProblem, listProblems, type Problem, problemData } from '#config/problem.ts'
import { publishedSchema } from '#config/schema/schema.ts'
import { findWarnings } from '#config/warnings/find-warnings.ts'
import { compileRoutes } from '#gateway/routes/compile.ts'
import { createOwnPaths } from '#gateway/routes/own-paths.ts'
import { createRouteTable, findCaseRefusals, type RouteTable } from '#gateway/routes/table.ts'
import { OperatorError } from '#platform/errors/operator-error.ts'
import { countOf } from '#platform/text.ts'
import type { Command } from './command.ts'
import { print, printData, twoColumns } from './print.ts'

export const checkCommand: Command = {
  name: 'check',
  summary: 'Validates the config: prints every problem, and warnings for risky options.',
  examples: ['gatehouse check', 'gatehouse check --config my-gateway.yaml'],
  run: async (invocation) => {
    const reading = readConfig(invocation.config)
    // All problems: a start lists the first ones, and points here for the others.
    const { config, file, problems } = reading
    const ownPaths = config && createOwnPaths(config.portal, config.routes, config)
    const warnings = ownPaths ? findWarnings(reading, ownPaths, invocation.config) : []
    const table = config && buildTable(config)
    const notes = table ? caseNotes(table, reading) : []
    const verdict =
      problems.length === 0
        ? `${file} is valid: ${countOf(table?.routes.length ?? 0, 'route')}, ${countOf(config?.upstreams.length ?? 0, 'upstream')}.`
        : `${file} has ${countOf(problems.length, 'problem')}.`
    const data = {
      file,
      valid: problems.length === 0,
      problems: [
        ...problems.map((problem) => problemData(problem, 'error')),
        ...warnings.map((warning) => problemData(warning, 'warning')),
        ...notes.map((note) => problemData(note, 'note')),
      ],
    }
    printData(invocation, data, () => [
      ...problems.map(formatProblem),
      ...warnings.map((warning) => `warning: ${formatProblem(warning)}`),
      ...notes.map((note) => `note: ${formatProblem(note)}`),
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

function caseNotes(
  table: RouteTable<unknown>,
  { tree, sourceOf }: Pick<ConfigReadResult, 'tree' | 'sourceOf'>,
): readonly Problem[] {
  const indexes = new Map(tree.routes.map(({ name }, index) => [name, index]))
  return findCaseRefusals(table).map(({ route, path: refused, other }) => {
    const path = ['routes', indexes.get(route) ?? 0, 'path']
    return {
      path,
      source: sourceOf(path),
      message: `route "${route}" refuses ${refused}, which matches "${other}" only if case is ignored`,
      hint: 'if the backend is case-sensitive, set caseSensitive: true',
    }
  })
}

const schema: Command = {
  name: 'config schema',
  summary: 'Prints the JSON Schema of the config file, for editors.',
  examples: ['gatehouse config schema > gateway.schema.json'],
  run: async ({ terminal }) => {
    print(terminal, [JSON.stringify(publishedSchema(), undefined, 2)])
  },
}

const show: Command = {
  name: 'config show',
  summary: 'Prints the effective config: every option, and where its value comes from.',
  examples: ['gatehouse config show --set listen.port=8443'],
  run: async (invocation) => {
    const reading = readConfig(invocation.config)
    if (!reading.config) {
      throw new OperatorError(['invalid config:', ...listProblems(reading.problems)].join('\n  '))
    }
    const options = showConfig(reading)
    const rows = options.map(
      ({ path, value, source }) =>
        [`${path}: ${typeof value === 'string' ? value : JSON.stringify(value)}`, source] as const,
    )
    printData(
      invocation,
      options,
      twoColumns(rows).map((line) => line.slice(2)),
    )
  },
}

export const configCommands: readonly Command[] = [schema, show]
