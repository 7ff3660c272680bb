import { readConfig } from '#config/load.ts'
import { listProblems } from '#config/problem.ts'
import { publishedSchema } from '#config/schema/schema.ts'
import { showConfig } from '#config/show.ts'
import { OperatorError } from '#platform/errors/operator-error.ts'
import type { Command } from './command.ts'
import { columns } from './help.ts'
import { print, printData } from './print.ts'

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
      columns(rows).map((line) => line.slice(2)),
    )
  },
}

export const configCommands: readonly Command[] = [schema, show]
