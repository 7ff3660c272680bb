import { existsSync } from 'node:fs'
import { configFileOf } from '#config/load.ts'
import type { NewConfig } from '#config/new-config.ts'
import { OperatorError } from '#platform/errors/operator-error.ts'
import { shellWord } from '#platform/text.ts'
import type { Command, Option } from '../command.ts'
import { programWords } from '../help.ts'
import { printData, printToStderr } from '../print.ts'
import { readAnswers } from './answers.ts'
import { type WrittenConfig, writeNewConfig } from './new-file.ts'
import { type Question, questions } from './questions.ts'

export const initCommand: Command = {
  name: 'init',
  summary: 'Writes a checked config for one backend: asks on a terminal, or takes options.',
  examples: [
    'gatehouse init --upstream http://127.0.0.1:3000',
    'gatehouse init --upstream http://127.0.0.1:3000 --path /orders --store redis --config orders.yaml',
  ],
  options: {
    ...Object.fromEntries(questions.map((question) => [question.option, optionOf(question)])),
    yes: { short: 'y', help: 'Uses the defaults for what is not given, and asks nothing.' },
    force: { help: 'Overwrites the file if there is one.' },
  },
  run: async (invocation) => {
    const { config, terminal } = invocation
    const file = configFileOf(config)
    const mayReplace = invocation.flag('force')
    // Before anything is asked: the answers would be lost.
    if (!mayReplace) assertNew(file)
    const answers = await readAnswers(file, invocation)
    const written = writeNewConfig(file, answers, { mayReplace })
    for (const warning of written.warnings) printToStderr(terminal, `warning: ${warning}`)
    const { warnings, sealingKeyFile = null } = written
    printData(invocation, { file, sealingKeyFile, warnings }, nextSteps(file, answers, written))
  },
}

function optionOf({ value, help, choices }: Question): Option {
  return { value, help, ...(choices && { choices }) }
}

function assertNew(file: string): void {
  if (!existsSync(file)) return
  throw new OperatorError(`${file} exists already`, {
    hint: 'Name another file with --config, or overwrite it with --force.',
  })
}

function nextSteps(file: string, { path, port }: NewConfig, { sealingKeyFile }: WrittenConfig): string[] {
  const command = (words: string) => `  ${programWords} ${words} --config ${shellWord(file)}`
  return [
    `Written: ${file}`,
    ...(sealingKeyFile === undefined
      ? []
      : [`Created: ${sealingKeyFile}; every instance needs the same, and a backup of it.`]),
    '',
    'Next:',
    command('check'),
    command('accounts create --email you@example.com --role Admin'),
    command(`explain GET ${shellWord(path)}`),
    command('serve'),
    '',
    'Then, with the secret key of the account:',
    `  curl -H 'SecretKey: gate_sk_…' ${shellWord(`http://localhost:${port}${path}`)}`,
  ]
}
