import { secretKeyData } from '#accounts/account-data.ts'
import { quotaText } from '#accounts/keys/input.ts'
import { loadConfig } from '#config/load.ts'
import { OperatorError } from '#platform/errors/operator-error.ts'
import { keyPatterns } from '#platform/secrets/key-format.ts'
import { confirm, yesOption } from '../ask.ts'
import type { Command } from '../command.ts'
import { type Operator, withOperator } from '../operator.ts'
import { fieldLines, printData, printList } from '../print.ts'
import { createKeyCommand } from './create-key.ts'
import { importKeysCommand } from './import-keys.ts'
import { graceNote, graceOption, namingOptions, printNewKey, readGrace } from './key-options.ts'

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
    const left = await namingOptions(
      withOperator(invocation.config, ({ secretKeys }) => secretKeys.revoke(who, name, graceSeconds)),
      'NAME',
    )
    const line =
      graceSeconds === 0
        ? `Secret key ${name} is revoked.`
        : `Secret key ${name} ${graceNote({ grace, graceSeconds, left }, 'stays valid for')}.`
    printData(invocation, { name, graceSeconds: left }, [line])
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

const rotateGrace = graceOption('1h', 'the old key still works, up to 30d; 0s revokes it at once.')

const rotate: Command = {
  name: 'keys rotate',
  operands: ['ID|EMAIL', 'NAME'],
  summary: 'Replaces a further secret key with one of the same name and limits, and prints it.',
  examples: [
    'gatehouse keys rotate ada@example.com ci',
    'gatehouse keys rotate ada@example.com ci --grace 24h',
  ],
  options: rotateGrace,
  run: async (invocation, who, name) => {
    const { grace, graceSeconds } = readGrace(invocation, rotateGrace)
    let left = graceSeconds
    async function make({ secretKeys }: Operator): Promise<string> {
      const replaced = await namingOptions(secretKeys.rotate(who, name, graceSeconds), 'NAME')
      left = replaced.graceSeconds
      return replaced.key
    }
    return printNewKey(invocation, make, {
      kind: 'secret',
      data: (secretKey) => ({ name, secretKey, graceSeconds: left }),
      heading: `Secret key ${name} rotated. Save the new one: it is not shown again.`,
      note: () =>
        graceSeconds === 0
          ? 'The old one is revoked.'
          : `The old one ${graceNote({ grace, graceSeconds, left }, 'works for another')}.`,
    })
  },
}

const resetGrace = graceOption(
  '0s',
  'the old key still works, up to 30d; its sessions continue with the new key. 0s revokes it and all its sessions at once.',
)

const resetSecret: Command = {
  name: 'keys reset-secret',
  operands: ['ID|EMAIL'],
  summary: 'Replaces the secret key and prints the new one.',
  examples: ['gatehouse keys reset-secret ada@example.com --grace 24h'],
  options: resetGrace,
  run: async (invocation, who) => {
    const { grace, graceSeconds } = readGrace(invocation, resetGrace)
    const ending = graceSeconds === 0 ? 'The old key is revoked.' : `The old key stays valid for ${grace}.`
    let note = ending
    async function reset({ defaultKeys }: Operator): Promise<string> {
      const { secretKey, previousSecretKey } = await defaultKeys.status(who)
      // A revoked key that still works for a while ends with the reset, whatever the grace.
      if (!secretKey.exists)
        note = previousSecretKey
          ? 'The revoked key, which still worked, no longer does.'
          : 'There was no key to replace.'
      return defaultKeys.resetSecretKey(who, graceSeconds)
    }
    return printNewKey(invocation, reset, {
      kind: 'secret',
      data: (secretKey) => ({ secretKey }),
      heading: 'New secret key:',
      note: () => note,
    })
  },
}

const resetApi: Command = {
  name: 'keys reset-api',
  operands: ['ID|EMAIL'],
  summary: 'Replaces the API key and prints the new one.',
  examples: ['gatehouse keys reset-api ada@example.com'],
  run: async (invocation, who) => {
    return printNewKey(invocation, ({ defaultKeys }) => defaultKeys.resetApiKey(who), {
      kind: 'API',
      data: (apiKey) => ({ apiKey }),
      heading: 'New API key:',
      note: () => 'The old key is revoked.',
    })
  },
}

export const keyCommands: readonly Command[] = [
  list,
  createKeyCommand,
  rotate,
  revoke,
  resetSecret,
  resetApi,
  show,
  pattern,
  importKeysCommand,
]
