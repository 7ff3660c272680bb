import { createdKeyData } from '#accounts/account-data.ts'
import {
  isValidGrace,
  keyLifetimeMsMax,
  parseQuota,
  quotaRule,
  quotaText,
  type SecretKeyInput,
} from '#accounts/key-input.ts'
import { parseDurationMs } from '#config/units.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { type Command, type Invocation, UsageError } from '../command.ts'
import { keepUnconfirmedKeys, type Operator, withSealingOperator } from '../operator.ts'
import { fieldLines, printData } from '../print.ts'

/** The commands that make a key and print it. */

/** @param usual the grace period without the option */
export function graceOption(usual: '0s' | '1h', help: string) {
  return {
    grace: { type: 'string', value: usual, help: `Grace period in which ${help}` },
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
async function printNewKey(
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

export const createKeyCommand: Command = {
  name: 'keys create',
  operands: ['ID|EMAIL'],
  summary: 'Creates a further secret key and prints it, once.',
  examples: [
    'gatehouse keys create ada@example.com --name ci --expires 90d --scopes orders:read --from 10.0.0.0/8',
    'gatehouse keys create ada@example.com --name agent --quota 1000/day',
  ],
  options: {
    name: { type: 'string', value: 'N', help: 'Name, such as ci; no two keys of an account may share one.' },
    expires: {
      type: 'string',
      value: '90d',
      help: 'How long the key is valid, such as 1h, but at least 1s; default: until it is revoked.',
    },
    scopes: {
      type: 'string',
      value: 'a,b',
      help: 'Limits the key to routes that name scopes, all of which are among these.',
    },
    from: {
      type: 'string',
      value: 'CIDR,…',
      help: 'Addresses and CIDR ranges that the key is accepted from; default: anywhere.',
    },
    quota: {
      type: 'string',
      value: '1000/day',
      help: 'How many requests the key may send in a day or month (UTC), such as 20000/month; default: as many as its account.',
    },
  },
  printsData: true,
  run: async (invocation) => {
    const [who = ''] = invocation.operands
    const input = readKeyInput(invocation)
    const { name, scopes, addresses, quota, expiresAt } = createdKeyData('', input)
    return printNewKey(invocation, ({ secretKeys }) => namingOptions(secretKeys.create(who, input)), {
      kind: 'secret',
      data: (key) => createdKeyData(key, input),
      heading: 'Secret key created. Save it: it is not shown again.',
      facts: fieldLines({
        Name: name,
        Scopes: scopes.join(',') || '-',
        From: addresses.join(',') || '-',
        Quota: quota ? quotaText(quota) : '-',
        Expires: expiresAt ?? '-',
      }),
    })
  },
}

/** @throws UsageError where the name is missing, or the lifetime is not a duration */
function readKeyInput(invocation: Invocation): SecretKeyInput {
  const name = invocation.text('name')
  if (name === undefined) throw new UsageError('--name is missing')
  return {
    name,
    scopes: readList(invocation, 'scopes'),
    addresses: readList(invocation, 'from'),
    quota: readQuota(invocation.text('quota')),
    expiresAt: readExpiry(invocation.text('expires')),
  }
}

function readQuota(text: string | undefined): SecretKeyInput['quota'] {
  if (text === undefined) return undefined
  const quota = parseQuota(text)
  if (quota !== undefined) return quota
  throw new UsageError(`--quota ${quotaRule}`)
}

/** A shorter one may be over before the key is stored. */
const lifetimeMsMin = 1_000

function readExpiry(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const lifetimeMs = parseDurationMs(text) ?? 0
  if (lifetimeMs >= lifetimeMsMin && lifetimeMs <= keyLifetimeMsMax) return Date.now() + lifetimeMs
  throw new UsageError(`--expires must be from 1s to ${keyLifetimeMsMax / 86_400_000}d, such as 90d or 1h`)
}

/** An option with an empty list is a mistake: without the option the key is not limited. */
function readList(invocation: Invocation, option: string): readonly string[] {
  const text = invocation.text(option)
  if (text === undefined) return []
  const items = text.split(',').map((item) => item.trim())
  if (items.includes('')) throw new UsageError(`--${option} must be a list with commas, without empty items`)
  return items
}

const rotateGrace = graceOption('1h', 'the old key still works, up to 30d; 0s revokes it at once.')

export const rotateKeyCommand: Command = {
  name: 'keys rotate',
  operands: ['ID|EMAIL', 'NAME'],
  summary: 'Replaces a further secret key by one of the same name and limits, and prints it.',
  examples: [
    'gatehouse keys rotate ada@example.com ci',
    'gatehouse keys rotate ada@example.com ci --grace 24h',
  ],
  options: rotateGrace,
  printsData: true,
  run: async (invocation) => {
    const [who = '', name = ''] = invocation.operands
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
  printsData: true,
  run: async (invocation) => {
    const [who = ''] = invocation.operands
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
  printsData: true,
  run: async (invocation) => {
    const [who = ''] = invocation.operands
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
