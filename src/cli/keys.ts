import { loadConfig } from '#config/load.ts'
import { OperatorError } from '#platform/errors/operator-error.ts'
import { keyPatterns } from '#platform/secrets/format.ts'
import type { Command } from './command.ts'
import { parseGraceSeconds } from './grace.ts'
import { importKeysCommand } from './import/import-keys.ts'
import { keepUnconfirmedKeys, withOperator, withSealingOperator } from './operator.ts'
import { fieldLines, printData } from './print.ts'
import { secretKeyCommands } from './secret-keys.ts'
import { unconfirmedKeyLines } from './unconfirmed-keys.ts'

const resetSecret: Command = {
  name: 'keys reset-secret',
  operands: ['ID|EMAIL'],
  summary: 'Replaces the secret key and prints the new one.',
  examples: ['gatehouse keys reset-secret ada@example.com --grace 24h'],
  options: {
    grace: {
      type: 'string',
      value: '0s',
      help: 'Grace period in which the old key still works, up to 30d; its sessions continue with the new key. 0s revokes it and all its sessions at once.',
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
      graceSeconds === 0 ? 'The old key is revoked.' : `The old key stays valid for ${grace}.`
    const lines = ['New secret key:', `  ${secretKey}`, oldKeyNote]
    printData(invocation, { secretKey }, unconfirmed ? unconfirmedKeyLines('secret', secretKey) : lines)
    if (unconfirmed) throw unconfirmed
    return 0
  },
}

const resetApi: Command = {
  name: 'keys reset-api',
  operands: ['ID|EMAIL'],
  summary: 'Replaces the API key and prints the new one.',
  examples: ['gatehouse keys reset-api ada@example.com'],
  printsData: true,
  run: async (invocation) => {
    const [who = ''] = invocation.operands
    const { result: apiKey, unconfirmed } = await keepUnconfirmedKeys(
      withSealingOperator(invocation.config, ({ keys }) => keys.resetApiKey(who)),
    )
    const lines = ['New API key:', `  ${apiKey}`, 'The old key is revoked.']
    printData(invocation, { apiKey }, unconfirmed ? unconfirmedKeyLines('API', apiKey) : lines)
    if (unconfirmed) throw unconfirmed
    return 0
  },
}

const show: Command = {
  name: 'keys show',
  operands: ['ID|EMAIL'],
  summary: 'Shows both keys again, if keys.reveal is true and encrypted copies are stored.',
  examples: ['gatehouse keys show ada@example.com'],
  printsData: true,
  run: async (invocation) => {
    const [who = ''] = invocation.operands
    const { secretKey, apiKey, config } = await withOperator(
      invocation.config,
      async ({ accounts, keys, config }) => {
        const { id } = await accounts.find(who)
        const secretKey = await keys.reveal(id, 'secretKey')
        return { secretKey, apiKey: await keys.reveal(id, 'apiKey'), config }
      },
    )
    if (secretKey === undefined || apiKey === undefined) {
      const reason = config.keys.reveal
        ? 'They were created with keys.reveal: false, with another sealing key, or before a password was set.'
        : 'The config has keys.reveal: false.'
      const hint = `${reason} Reset them: gatehouse keys reset-secret`
      throw new OperatorError('these keys cannot be shown again', { hint })
    }
    printData(invocation, { secretKey, apiKey }, fieldLines({ 'Secret key': secretKey, 'API key': apiKey }))
    return 0
  },
}

const pattern: Command = {
  name: 'keys pattern',
  operands: [],
  summary: 'Prints regular expressions that find keys, one a line: for secret scanners and grep.',
  examples: ['gatehouse keys pattern', 'gatehouse keys pattern > patterns.txt'],
  printsData: true,
  run: async (invocation) => {
    const { config } = loadConfig(invocation.config)
    const patterns = keyPatterns(config.keys.prefix)
    printData(
      invocation,
      { patterns },
      patterns.map((each) => each.pattern),
    )
    return 0
  },
}

export const keyCommands: readonly Command[] = [
  ...secretKeyCommands,
  resetSecret,
  resetApi,
  show,
  pattern,
  importKeysCommand,
]
