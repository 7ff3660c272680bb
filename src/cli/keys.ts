import { isValidGrace } from '../accounts/account-keys.ts'
import { parseDurationMs } from '../config/units.ts'
import { OperatorError } from '../errors/operator-error.ts'
import { type Command, UsageError } from './command.ts'
import { keepUnconfirmedKeys } from './keep-unconfirmed-keys.ts'
import { withOperator, withSealingOperator } from './operator.ts'
import { fieldLines, printData } from './print.ts'

const resetSecret: Command = {
  name: 'keys reset-secret',
  operands: ['ID|EMAIL'],
  summary: 'Replaces the secret key and prints the new one.',
  options: {
    grace: {
      type: 'string',
      value: '0s',
      help: 'How long the old key keeps working, up to 30d; 0s ends it and all sessions at once.',
    },
  },
  printsData: true,
  run: async (invocation) => {
    const [who = ''] = invocation.operands
    const grace = invocation.text('grace') ?? '0s'
    const graceSeconds = parseGraceSeconds(grace)
    const { result: secretKey, unconfirmed } = await keepUnconfirmedKeys(
      withSealingOperator(invocation.config, ({ keys }) => keys.resetSecretKey(who, graceSeconds)),
    )
    const oldKeyNote =
      graceSeconds === 0 ? 'The old one no longer works.' : `The old one works for another ${grace}.`
    const lines = ['The secret key has been replaced:', `  ${secretKey}`, oldKeyNote]
    printData(invocation, { secretKey }, unconfirmed ? unconfirmedLines('secret', secretKey) : lines)
    if (unconfirmed) throw unconfirmed
    return 0
  },
}

const resetApi: Command = {
  name: 'keys reset-api',
  operands: ['ID|EMAIL'],
  summary: 'Replaces the API key and prints the new one.',
  printsData: true,
  run: async (invocation) => {
    const [who = ''] = invocation.operands
    const { result: apiKey, unconfirmed } = await keepUnconfirmedKeys(
      withSealingOperator(invocation.config, ({ keys }) => keys.resetApiKey(who)),
    )
    const lines = ['The API key has been replaced:', `  ${apiKey}`, 'The old one no longer works.']
    printData(invocation, { apiKey }, unconfirmed ? unconfirmedLines('API', apiKey) : lines)
    if (unconfirmed) throw unconfirmed
    return 0
  },
}

const show: Command = {
  name: 'keys show',
  operands: ['ID|EMAIL'],
  summary: 'Shows both keys again, where sealed copies are kept (keys.reveal).',
  printsData: true,
  run: async (invocation) => {
    const [who = ''] = invocation.operands
    const { secretKey, apiKey } = await withOperator(invocation.config, async ({ accounts, keys }) => {
      const { id } = await accounts.find(who)
      return { secretKey: await keys.reveal(id, 'secretKey'), apiKey: await keys.reveal(id, 'apiKey') }
    })
    if (secretKey === undefined || apiKey === undefined) {
      throw new OperatorError('no readable copy of these keys is kept', {
        hint: 'They were made with keys.reveal: false or with another sealing key. Replace them: gatehouse keys reset-secret',
      })
    }
    printData(invocation, { secretKey, apiKey }, fieldLines({ 'Secret key': secretKey, 'API key': apiKey }))
    return 0
  },
}

/** @throws UsageError where the text is no duration, or none that a key may work on for */
function parseGraceSeconds(text: string): number {
  const seconds = (parseDurationMs(text) ?? Number.NaN) / 1_000
  if (!isValidGrace(seconds)) throw new UsageError('--grace takes 0s to 30d, such as 24h')
  return seconds
}

function unconfirmedLines(kind: 'secret' | 'API', key: string): string[] {
  return [`The new ${kind} key, valid only if the change lasts:`, `  ${key}`]
}

export const keyCommands: readonly Command[] = [resetSecret, resetApi, show]
