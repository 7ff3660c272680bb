import { isValidGrace } from '#accounts/keys/input.ts'
import { parseDurationMs } from '#config/units.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { formatDuration } from '#platform/pages/format.ts'
import { type Invocation, UsageError } from '../command.ts'
import { keepUnconfirmedKeys, type Operator, withSealingOperator } from '../operator.ts'
import { assertKeysPrinted, printData } from '../print.ts'

// What several commands about keys share: printing a new one, the grace period, and the names of options in errors.

interface NewKeyView {
  readonly kind: 'secret' | 'API'
  readonly data: (key: string) => unknown
  /** Before the key. */
  readonly heading: string
  /** After the key, where it was saved. */
  readonly note?: () => string
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
    ...(unconfirmed || note === undefined ? [] : [note()]),
    ...facts,
  ])
  if (unconfirmed) throw unconfirmed
  await assertKeysPrinted(
    invocation.terminal,
    `the new ${kind} key is valid, but`,
    'Replace it: gatehouse keys rotate, or keys reset-secret or reset-api for those that an account begins with',
  )
}

/** @param usual the grace period without the option */
export function graceOption(usual: '0s' | '1h', help: string) {
  return {
    grace: { value: usual, help: `Grace period (default ${usual}) in which ${help}` },
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

interface GraceOutcome extends ReturnType<typeof readGrace> {
  /** How many seconds of it the key does still work. */
  readonly left: number
}

/**
 * What a grace period means for a key: one that expires or was revoked before ends no later for it.
 * @param works such as `stays valid for`
 */
export function graceNote({ grace, graceSeconds, left }: GraceOutcome, works: string): string {
  if (left === 0) return 'had expired already: it does not work'
  return left < graceSeconds
    ? `${works} ${formatDuration(left)}, not ${grace}: it ends then anyway`
    : `${works} ${grace}`
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
