import type { NewConfig } from '#config/new-config.ts'
import { type Invocation, UsageError } from '../command.ts'
import { printToStderr } from '../print.ts'
import { isInteractive, openAsker } from '../terminal/ask.ts'
import { findProblems } from './new-file.ts'
import { type Question, questions } from './questions.ts'

type Answers = Partial<NewConfig>

/** Stands for an answer that is still needed: the other answers are checked with it. */
const anyUpstream = 'http://127.0.0.1:3000'

/**
 * What the options say, and on a terminal the answers to what they leave open.
 * @throws UsageError where nobody can be asked, and an answer without a default is missing
 */
export async function readAnswers(file: string, invocation: Invocation): Promise<NewConfig> {
  const { terminal, flag } = invocation
  const given: Answers = Object.fromEntries(
    questions.flatMap(({ name, option }) => {
      const text = invocation.text(option)
      return text === undefined ? [] : [[name, text]]
    }),
  )
  const missing = questions.find(({ name, defaultOf }) => (given[name] ?? defaultOf(given)) === undefined)
  if (isInteractive(terminal) && !flag('yes')) return ask(file, given, invocation)
  if (missing) throw new UsageError(`--${missing.option} is missing`)
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

  function problemsOf({ name, option }: Question, text: string): readonly string[] {
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
