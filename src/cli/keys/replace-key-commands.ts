import type { Command } from '../command.ts'
import type { Operator } from '../operator.ts'
import { graceOption, namingOptions, printNewKey, readGrace } from './key-options.ts'

const rotateGrace = graceOption('1h', 'the old key still works, up to 30d; 0s revokes it at once.')

export const rotateKeyCommand: Command = {
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
    const make = ({ secretKeys }: Operator) =>
      namingOptions(secretKeys.rotate(who, name, graceSeconds), 'NAME')
    return printNewKey(invocation, make, {
      kind: 'secret',
      data: (secretKey) => ({ name, secretKey, graceSeconds }),
      heading: `Secret key ${name} rotated. Save the new one: it is not shown again.`,
      note: () =>
        graceSeconds === 0 ? 'The old one is revoked.' : `The old one works for another ${grace}.`,
    })
  },
}

const resetGrace = graceOption(
  '0s',
  'the old key still works, up to 30d; its sessions continue with the new key. 0s revokes it and all its sessions at once.',
)

export const resetSecretKeyCommand: Command = {
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

export const resetApiKeyCommand: Command = {
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
