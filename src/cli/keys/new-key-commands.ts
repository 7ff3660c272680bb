import { isValidGrace } from '#accounts/keys/input.ts'
import { parseDurationMs } from '#config/units.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { type Command, type Invocation, UsageError } from '../command.ts'
import { keepUnconfirmedKeys, type Operator, withSealingOperator } from '../operator.ts'
import { printData } from '../print.ts'

// The commands that make a key and print it.

/** @param usual the grace period without the option */
export function graceOption(usual: '0s' | '1h', help: string) {
  return {
    grace: { value: usual, help: `Grace period in which ${help}` },
  } as const
}

/**
 * The grace period of `--grace`, as it is given and in seconds.
 * @throws UsageError if the text is not a duration, or not an allowed grace period
 */
export function readGrace(
  invocation: Invocation,
  { grace }: ReturnType<typeof graceOption>,
): { readonly grace: string; readonly graceSeconds: number } {
  const text = invocation.text('grace') ?? grace.value
  const graceSeconds = (parseDurationMs(text) ?? Number.NaN) / 1_000
  if (!isValidGrace(graceSeconds)) throw new UsageError('--grace must be from 0s to 30d, such as 24h')
  return { grace: text, graceSeconds }
}

/** What is printed of a new key. */
interface NewKeyView {
  readonly kind: 'secret' | 'API'
  readonly data: (key: string) => unknown
  /** Before the key. */
  readonly heading: string
  /** After the key, where it was saved. */
  readonly note?: string
  /** After the key, also where it is not known whether it was saved. */
  readonly facts?: readonly string[]
}

/** Makes a key and prints it, even if it is not known whether it was saved: it could not be shown again. */
export async function printNewKey(
  invocation: Invocation,
  make: (operator: Operator) => Promise<string>,
  { kind, data, heading, note, facts = [] }: NewKeyView,
): Promise<undefined> {
  const { result: key, unconfirmed } = await keepUnconfirmedKeys(withSealingOperator(invocation.config, make))
  printData(invocation, data(key), [
    unconfirmed ? `New ${kind} key (unconfirmed: valid only if the change was saved):` : heading,
    `  ${key}`,
    ...(unconfirmed || note === undefined ? [] : [note]),
    ...facts,
  ])
  if (unconfirmed) throw unconfirmed
}

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
      note: graceSeconds === 0 ? 'The old one is revoked.' : `The old one works for another ${grace}.`,
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
    return printNewKey(invocation, ({ keys }) => keys.resetSecretKey(who, graceSeconds), {
      kind: 'secret',
      data: (secretKey) => ({ secretKey }),
      heading: 'New secret key:',
      note: graceSeconds === 0 ? 'The old key is revoked.' : `The old key stays valid for ${grace}.`,
    })
  },
}

export const resetApiKeyCommand: Command = {
  name: 'keys reset-api',
  operands: ['ID|EMAIL'],
  summary: 'Replaces the API key and prints the new one.',
  examples: ['gatehouse keys reset-api ada@example.com'],
  run: async (invocation, who) => {
    return printNewKey(invocation, ({ keys }) => keys.resetApiKey(who), {
      kind: 'API',
      data: (apiKey) => ({ apiKey }),
      heading: 'New API key:',
      note: 'The old key is revoked.',
    })
  },
}

const optionNames: Readonly<Record<string, string>> = {
  scopes: '--scopes',
  addresses: '--from',
  quota: '--quota',
  expiresAt: '--expires',
  certificate: '--certificate',
}

/** Errors about fields name the options that they come from. */
export function namingOptions<Result>(work: Promise<Result>, ofName = '--name'): Promise<Result> {
  return work.catch((error: unknown) => {
    if (!(error instanceof GatehouseError) || !error.errors) throw error
    const errors = error.errors.map(({ field, message }) => ({
      field: field === 'name' ? ofName : (optionNames[field] ?? field),
      message,
    }))
    throw new GatehouseError(error.code, { errors, cause: error })
  })
}
