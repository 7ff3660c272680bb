import { createdKeyData, secretKeyData } from '#accounts/account-data.ts'
import { keyLifetimeMsMax, type SecretKeyInput } from '#accounts/key-input.ts'
import { parseDurationMs } from '#config/units.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { type Command, type Invocation, UsageError } from './command.ts'
import { parseGraceSeconds } from './grace.ts'
import { keepUnconfirmedKeys, withOperator, withSealingOperator } from './operator.ts'
import { fieldLines, printData, table } from './print.ts'
import { confirm, yesOption } from './terminal/ask.ts'
import { unconfirmedKeyLines } from './unconfirmed-keys.ts'

const list: Command = {
  name: 'keys list',
  operands: ['ID|EMAIL'],
  summary: 'Lists the secret keys of an account.',
  examples: ['gatehouse keys list ada@example.com'],
  printsData: true,
  run: async (invocation) => {
    const [who = ''] = invocation.operands
    const keys = await withOperator(invocation.config, ({ secretKeys }) => secretKeys.list(who))
    const data = keys.map(secretKeyData)
    const rows = data.map((key) => [
      key.name,
      key.lastFour ?? '-',
      key.state,
      key.scopes.join(',') || '-',
      key.addresses.join(',') || '-',
      key.createdAt,
      endOf(key) ?? '-',
      key.lastUsedAt ?? '-',
    ])
    const headings = ['NAME', 'ENDS IN', 'STATE', 'SCOPES', 'FROM', 'CREATED', 'EXPIRES', 'LAST USED']
    printData(invocation, data, table(headings, rows, 'No secret keys.'))
    return 0
  },
}

/** When a key ends: at the end of an overlap, or when it expires; times compare as texts. */
function endOf({
  expiresAt,
  revokedAt,
}: Pick<ReturnType<typeof secretKeyData>, 'expiresAt' | 'revokedAt'>): string | undefined {
  return [expiresAt, revokedAt].filter((time) => time !== null).toSorted()[0]
}

const create: Command = {
  name: 'keys create',
  operands: ['ID|EMAIL'],
  summary: 'Creates a further secret key and prints it, once.',
  examples: [
    'gatehouse keys create ada@example.com --name ci --expires 90d --scopes orders:read --from 10.0.0.0/8',
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
  },
  printsData: true,
  run: async (invocation) => {
    const [who = ''] = invocation.operands
    const input = readKeyInput(invocation)
    const work = withSealingOperator(invocation.config, ({ secretKeys }) => secretKeys.create(who, input))
    const { result: secretKey, unconfirmed } = await keepUnconfirmedKeys(namingOptions(work))
    const data = createdKeyData(secretKey, input)
    const lines = ['Secret key created. Save it: it is not shown again.', `  ${secretKey}`]
    printData(invocation, data, [
      ...(unconfirmed ? unconfirmedKeyLines('secret', secretKey) : lines),
      ...fieldLines({
        Name: data.name,
        Scopes: data.scopes.join(',') || '-',
        From: data.addresses.join(',') || '-',
        Expires: data.expiresAt ?? '-',
      }),
    ])
    if (unconfirmed) throw unconfirmed
    return 0
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
    expiresAt: readExpiry(invocation.text('expires')),
  }
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

const rotate: Command = {
  name: 'keys rotate',
  operands: ['ID|EMAIL', 'NAME'],
  summary: 'Replaces a further secret key by one of the same name and limits, and prints it.',
  examples: [
    'gatehouse keys rotate ada@example.com ci',
    'gatehouse keys rotate ada@example.com ci --grace 24h',
  ],
  options: {
    grace: {
      type: 'string',
      value: '1h',
      help: 'Grace period in which the old key still works, up to 30d; 0s revokes it at once.',
    },
  },
  printsData: true,
  run: async (invocation) => {
    const [who = '', name = ''] = invocation.operands
    const grace = invocation.text('grace') ?? '1h'
    const graceSeconds = parseGraceSeconds(grace)
    const work = withSealingOperator(invocation.config, ({ secretKeys }) =>
      secretKeys.rotate(who, name, graceSeconds),
    )
    const { result: secretKey, unconfirmed } = await keepUnconfirmedKeys(namingOptions(work, 'NAME'))
    const old = graceSeconds === 0 ? 'The old one is revoked.' : `The old one works for another ${grace}.`
    const lines = [
      `Secret key ${name} rotated. Save the new one: it is not shown again.`,
      `  ${secretKey}`,
      old,
    ]
    const shown = unconfirmed ? unconfirmedKeyLines('secret', secretKey) : lines
    printData(invocation, { name, secretKey, graceSeconds }, shown)
    if (unconfirmed) throw unconfirmed
    return 0
  },
}

const revoke: Command = {
  name: 'keys revoke',
  operands: ['ID|EMAIL', 'NAME'],
  summary: 'Revokes a secret key, its sessions and its access tokens.',
  examples: [
    'gatehouse keys revoke ada@example.com ci --yes',
    'gatehouse keys revoke ada@example.com ci --grace 1h',
  ],
  options: {
    ...yesOption,
    grace: {
      type: 'string',
      value: '0s',
      help: 'Grace period in which the key still works, up to 30d; 0s revokes it at once.',
    },
  },
  printsData: true,
  run: async (invocation) => {
    const [who = '', name = ''] = invocation.operands
    const grace = invocation.text('grace') ?? '0s'
    const graceSeconds = parseGraceSeconds(grace)
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
    return 0
  },
}

const optionNames: Readonly<Record<string, string>> = {
  scopes: '--scopes',
  addresses: '--from',
  expiresAt: '--expires',
}

/** Errors about fields name the options that they come from. */
function namingOptions<Result>(work: Promise<Result>, ofName = '--name'): Promise<Result> {
  return work.catch((error: unknown) => {
    if (!(error instanceof GatehouseError) || !error.errors) throw error
    const errors = error.errors.map(({ field, message }) => ({
      field: field === 'name' ? ofName : (optionNames[field] ?? field),
      message,
    }))
    throw new GatehouseError(error.code, { errors, cause: error })
  })
}

export const secretKeyCommands: readonly Command[] = [list, create, rotate, revoke]
