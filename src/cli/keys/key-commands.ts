import { secretKeyData } from '#accounts/account-data.ts'
import { quotaText } from '#accounts/keys/input.ts'
import { loadConfig } from '#config/load.ts'
import { OperatorError } from '#platform/errors/operator-error.ts'
import { keyPatterns } from '#platform/secrets/key-format.ts'
import { confirm, yesOption } from '../ask.ts'
import type { Command } from '../command.ts'
import { withOperator } from '../operator.ts'
import { fieldLines, printData, printList } from '../print.ts'
import { createKeyCommand } from './create-key.ts'
import { importKeysCommand } from './import-keys.ts'
import { graceOption, namingOptions, readGrace } from './key-options.ts'
import { resetApiKeyCommand, resetSecretKeyCommand, rotateKeyCommand } from './replace-key-commands.ts'

const list: Command = {
  name: 'keys list',
  operands: ['ID|EMAIL'],
  summary: 'Lists the secret keys of an account.',
  examples: ['gatehouse keys list ada@example.com'],
  run: async (invocation, who) => {
    const keys = await withOperator(invocation.config, ({ secretKeys }) => secretKeys.list(who))
    printList(invocation, keys.map(secretKeyData), {
      columns: {
        NAME: ({ name }) => name,
        'ENDS IN': ({ lastFour }) => lastFour,
        STATE: ({ state }) => state,
        SCOPES: ({ scopes }) => scopes.join(','),
        FROM: ({ addresses }) => addresses.join(','),
        QUOTA: ({ quota }) => quota && quotaText(quota),
        CREATED: ({ createdAt }) => createdAt,
        EXPIRES: endOf,
        'LAST USED': ({ lastUsedAt }) => lastUsedAt,
      },
      whenEmpty: 'No secret keys.',
    })
  },
}

/** When a key ends: at the end of an overlap, or when it expires; times compare as texts. */
function endOf({ expiresAt, revokedAt }: ReturnType<typeof secretKeyData>): string | undefined {
  return [expiresAt, revokedAt].filter((time) => time !== null).toSorted()[0]
}

const revokeGrace = graceOption('0s', 'the key still works, up to 30d; 0s revokes it at once.')

const revoke: Command = {
  name: 'keys revoke',
  operands: ['ID|EMAIL', 'NAME'],
  summary: 'Revokes a secret key, its sessions and its access tokens.',
  examples: [
    'gatehouse keys revoke ada@example.com ci --yes',
    'gatehouse keys revoke ada@example.com ci --grace 1h',
  ],
  options: { ...yesOption, ...revokeGrace },
  run: async (invocation, who, name) => {
    const { grace, graceSeconds } = readGrace(invocation, revokeGrace)
    if (graceSeconds === 0) {
      await confirm(
        invocation,
        `Revoke the secret key ${name} of ${who}, with its sessions and access tokens?`,
      )
    }
    await namingOptions(
      withOperator(invocation.config, ({ secretKeys }) => secretKeys.revoke(who, name, graceSeconds)),
      'NAME',
    )
    const line =
      graceSeconds === 0 ? `Secret key ${name} is revoked.` : `Secret key ${name} stays valid for ${grace}.`
    printData(invocation, { name, graceSeconds }, [line])
  },
}

const show: Command = {
  name: 'keys show',
  operands: ['ID|EMAIL'],
  summary: 'Shows both keys again, if keys.reveal is true and encrypted copies are stored.',
  examples: ['gatehouse keys show ada@example.com'],
  run: async (invocation, who) => {
    const { secretKey, apiKey, config } = await withOperator(
      invocation.config,
      async ({ defaultKeys, config }) => {
        if (!(await defaultKeys.status(who)).secretKey.exists) {
          const hint = 'Create a new one: gatehouse keys reset-secret'
          throw new OperatorError('the account has no default secret key: it was revoked', { hint })
        }
        const secretKey = await defaultKeys.reveal(who, 'secretKey')
        return { secretKey, apiKey: await defaultKeys.reveal(who, 'apiKey'), config }
      },
    )
    if (secretKey === undefined || apiKey === undefined) {
      const resets = [
        ...(secretKey === undefined ? ['gatehouse keys reset-secret'] : []),
        ...(apiKey === undefined ? ['gatehouse keys reset-api'] : []),
      ]
      const isOne = resets.length === 1
      const reason = config.keys.reveal
        ? `${isOne ? 'It was' : 'They were'} created with keys.reveal: false, with another sealing key, or before a password was set.`
        : 'The config has keys.reveal: false.'
      const hint = `${reason} Reset ${isOne ? 'it' : 'them'}: ${resets.join(' and ')}`
      const lost = secretKey === undefined ? 'the secret key' : 'the API key'
      throw new OperatorError(`${isOne ? lost : 'these keys'} cannot be shown again`, { hint })
    }
    printData(invocation, { secretKey, apiKey }, fieldLines({ 'Secret key': secretKey, 'API key': apiKey }))
  },
}

const pattern: Command = {
  name: 'keys pattern',
  summary: 'Prints regular expressions that find keys, one a line: for secret scanners and grep.',
  examples: ['gatehouse keys pattern', 'gatehouse keys pattern > patterns.txt'],
  run: async (invocation) => {
    const { config } = loadConfig(invocation.config)
    const patterns = keyPatterns(config.keys.prefix)
    printData(
      invocation,
      { patterns },
      patterns.map((each) => each.pattern),
    )
  },
}

export const keyCommands: readonly Command[] = [
  list,
  createKeyCommand,
  rotateKeyCommand,
  revoke,
  resetSecretKeyCommand,
  resetApiKeyCommand,
  show,
  pattern,
  importKeysCommand,
]
