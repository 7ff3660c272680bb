import { existsSync } from 'node:fs'
import { configFileOf } from '#config/load.ts'
import type { NewConfig } from '#config/new-config.ts'
import { accessTokenPath } from '#gateway/routes/own-operations.ts'
import { OperatorError } from '#platform/errors/operator-error.ts'
import { shellWord } from '#platform/text.ts'
import { isInteractive, openAsker } from './ask.ts'
import { type Command, type Invocation, programWords, UsageError } from './command.ts'
import {
  findProblems,
  isAnyPort,
  type Question,
  questions,
  type WrittenConfig,
  writeNewConfig,
} from './init-file.ts'
import { printData, printToStderr } from './print.ts'

export const initCommand: Command = {
  name: 'init',
  summary: 'Writes a checked config for one backend: asks on a terminal, or takes options.',
  examples: [
    'gatehouse init --upstream http://127.0.0.1:3000',
    'gatehouse init --upstream http://127.0.0.1:3000 --path /orders --store redis --config orders.yaml',
  ],
  options: {
    ...Object.fromEntries(
      questions.map(({ option, value, help, choices }) => [
        option,
        { value, help, ...(choices && { choices }) },
      ]),
    ),
    yes: { short: 'y', help: 'Uses the defaults for what is not given, and asks nothing.' },
    force: { help: 'Overwrites the file if there is one.' },
  },
  run: async (invocation) => {
    const { config, terminal } = invocation
    if (invocation.texts('set').length > 0)
      throw new UsageError('--set changes nothing here: what is written is said by the other options')
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

function assertNew(file: string): void {
  if (!existsSync(file)) return
  throw new OperatorError(`${file} exists already`, {
    hint: 'Name another file with --config, or overwrite it with --force.',
  })
}

function nextSteps(file: string, answers: NewConfig, { sealingKeyFile }: WrittenConfig): string[] {
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
    command(`explain GET ${shellWord(answers.path)}`),
    command('serve'),
    '',
    ...firstRequests(answers),
  ]
}

function firstRequests({ auth, path, port, publicUrl }: NewConfig): readonly string[] {
  const origin = isAnyPort(port) ? new URL(publicUrl).origin : `http://localhost:${port}`
  const url = shellWord(origin + path)
  if (auth === 'none') return ['Then, without a key:', `  curl ${url}`]
  if (auth !== 'bearer')
    return ['Then, with the secret key of the account:', `  curl -H 'SecretKey: gate_sk_…' ${url}`]
  return [
    'Then, with both keys of the account, and with the access token (JwtToken) that they are exchanged for:',
    `  curl -H 'Content-Type: application/json' -d '{"SecretKey":"gate_sk_…","APIKey":"gate_ak_…"}' ${origin}${accessTokenPath}`,
    `  curl -H 'Authorization: Bearer eyJ…' ${url}`,
  ]
}

type Answers = Partial<NewConfig>

/** Stands for an answer that is still needed: the other answers are checked with it. */
const anyUpstream = 'http://127.0.0.1:3000'

/**
 * What the options say, and on a terminal the answers to what they leave open.
 * @throws UsageError where one would have no effect, or nobody can be asked, and an answer without a default is missing
 */
async function readAnswers(file: string, invocation: Invocation): Promise<NewConfig> {
  const { terminal, flag } = invocation
  const given: Answers = Object.fromEntries(
    questions.flatMap(({ name, option }) => {
      const text = invocation.text(option)
      return text === undefined ? [] : [[name, text]]
    }),
  )
  if (given.redisUrl !== undefined && given.store !== 'redis')
    throw new UsageError('--redis-url needs --store redis')
  const missing = questions.find(({ name, defaultOf }) => (given[name] ?? defaultOf(given)) === undefined)
  if (isInteractive(terminal) && !flag('yes')) return ask(file, given, invocation)
  if (missing) {
    const reason = missing.name === 'publicUrl' ? ': no URL follows from --port 0, any free port' : ''
    throw new UsageError(`--${missing.option} is missing${reason}`)
  }
  return complete(given)
}

/** Fills in the defaults. */
function complete(given: Answers): NewConfig {
  let answers = given
  for (const { name, defaultOf } of questions) {
    answers = { ...answers, [name]: answers[name] ?? defaultOf(answers) ?? anyUpstream }
  }
  // The cast is sound: every question has its answer.
  return answers as NewConfig
}

async function ask(file: string, given: Answers, { terminal }: Invocation): Promise<NewConfig> {
  const asker = openAsker(terminal)
  let answers = given
  try {
    for (const question of questions) {
      const { name, isAsked } = question
      if (given[name] !== undefined || isAsked?.(answers) === false) continue
      for (;;) {
        const answer = await asker.line(promptOf(question, answers))
        const text = answer === '' ? question.defaultOf(answers) : answer
        const problems = text === undefined ? ['an answer is needed'] : problemsOf(question, text)
        if (problems.length === 0) {
          answers = { ...answers, [name]: text }
          break
        }
        for (const problem of problems) printToStderr(terminal, `  ${problem}`)
      }
    }
  } finally {
    asker.close()
  }
  return complete(answers)

  function problemsOf({ name, option, choices }: Question, text: string): readonly string[] {
    if (choices?.includes(text) === false) return [`must be one of ${choices.join(', ')}`]
    const start = `--${option}: `
    return findProblems(file, complete({ ...answers, [name]: text }))
      .filter((problem) => problem.startsWith(start))
      .map((problem) => problem.slice(start.length))
  }
}

function promptOf({ ask, defaultOf }: Question, answers: Answers): string {
  const whenEmpty = defaultOf(answers)
  return `${ask}?${whenEmpty === undefined ? '' : ` [${whenEmpty}]`} `
}
