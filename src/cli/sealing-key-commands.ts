import type { Config } from '#config/config.ts'
import { loadConfig } from '#config/load.ts'
import { OperatorError } from '#platform/errors/operator-error.ts'
import {
  acceptedKeys,
  createSealingKey,
  formatSealingKeys,
  readSealingKeys,
  replaceSealingKeys,
  type SealingKeySet,
} from '#platform/secrets/sealing-key.ts'
import { countOf } from '#platform/text.ts'
import { dayOf, formatDay, startOfDay } from '#platform/time.ts'
import { loadSealingKeys } from '#runtime/assembly/sealing-keys.ts'
import type { AuditAction } from '#store/audit-entry.ts'
import { type Command, type Invocation, UsageError } from './command.ts'
import { type Operator, withSealingOperator, withStore } from './operator.ts'
import { createProgress } from './output.ts'
import { printData, printToStderr } from './print.ts'
import { type ResealReport, reseal } from './reseal.ts'

/** One call takes one step, and says what to do before the next: every instance must know a key before it seals. */
const rotate: Command = {
  name: 'sealing-key rotate',
  summary: 'Replaces the sealing key, step by step, and reseals everything in the store.',
  examples: ['gatehouse sealing-key rotate', 'gatehouse sealing-key rotate --now'],
  options: {
    now: {
      help: 'Seals with a new key at once, for when no gateway runs or the current key has leaked.',
    },
    print: {
      help: 'Prints the new content of the sealing key instead of writing its file.',
    },
    drop: { help: 'Removes the previous key, once nothing needs it.' },
    yes: { short: 'y', help: 'With --drop: even if something still needs it.' },
  },
  run: async (invocation) => {
    assertUsage(invocation)
    const { config } = loadConfig(invocation.config)
    // A new store may have none yet.
    await withStore(config, (store) => loadSealingKeys(config, store))
    const keys = readSealingKeys(config.keys.sealingKey, { mayCreate: false })
    const step = stepFor(keys, invocation)
    await step(invocation, config, keys)
  },
}

function assertUsage({ asJson, flag }: Invocation): void {
  if (asJson && flag('print')) throw new UsageError('--print and --json exclude each other')
  if (flag('now') && flag('drop')) throw new UsageError('--now and --drop exclude each other')
}

type Step = (invocation: Invocation, config: Config, keys: SealingKeySet) => Promise<void>

function stepFor({ next, previous }: SealingKeySet, { flag }: Invocation): Step {
  if (flag('drop')) {
    if (!previous) throw new OperatorError('there is no previous sealing key to drop')
    return drop
  }
  // An announced key is dropped: what leaked the current one may have leaked it too, and it has sealed nothing.
  if (flag('now') && !previous) return promote(createSealingKey())
  if (!flag('now') && next) return promote(next)
  if (!flag('now')) return previous ? resealAll : add
  throw new OperatorError('the previous sealing key is still accepted, and there can be only one', {
    hint: 'Finish that rotation: gatehouse sealing-key rotate --drop',
  })
}

/** Announces a new key, which seals nothing yet. */
const add: Step = async (invocation, config, keys) => {
  const changed = { ...keys, next: createSealingKey() }
  await save(invocation, config, { changed, action: 'sealing-key-added' })
  tell(invocation, { state: 'added' }, [
    'A new sealing key is added. It seals nothing yet.',
    `${reloadAll(config)} Then run again: gatehouse sealing-key rotate`,
  ])
}

/** Lets a key seal from now on. Every instance accepts it already if it was announced. */
const promote =
  (key: SealingKeySet['current']): Step =>
  async (invocation, config, { current }) => {
    const previous = { key: current, since: dayOf(Date.now()) }
    const changed = { current: key, next: undefined, previous }
    await save(invocation, config, { changed, action: 'sealing-key-rotated' })
    if (invocation.flag('print')) {
      tell(invocation, {}, [`${reloadAll(config)} Then run again: gatehouse sealing-key rotate`])
      return
    }
    await resealAll(invocation, config, changed)
  }

/** Reseals what the previous key has sealed, and says what still needs it. */
const resealAll: Step = async (invocation, config, keys) => {
  const report = await resealStore(invocation, keys)
  const neededUntil = neededUntilOf(config, keys)
  const state = { state: 'resealed', ...report, previousKeyNeededUntil: new Date(neededUntil).toISOString() }
  tell(invocation, state, [
    ...describe(report),
    `${reloadAll(config)} Then run again, for what they have sealed meanwhile.`,
    `The previous key is needed until ${formatDay(dayOf(neededUntil))} for refresh tokens; then: gatehouse sealing-key rotate --drop`,
  ])
}

const drop: Step = async (invocation, config, keys) => {
  const report = await resealStore(invocation, keys)
  const needs = needsOf(report, neededUntilOf(config, keys))
  if (needs.length > 0 && !invocation.flag('yes')) {
    throw new OperatorError(`the previous sealing key is still needed: ${needs.join('; ')}`, {
      hint: 'Without it they become invalid. To drop it nevertheless: gatehouse sealing-key rotate --drop --yes',
    })
  }
  await save(invocation, config, { changed: { ...keys, previous: undefined }, action: 'sealing-key-dropped' })
  tell(invocation, { state: 'dropped', ...report }, [
    'The previous sealing key is dropped.',
    `${reloadAll(config)} Keep the key as long as backups from before it was replaced.`,
  ])
}

/** Logged before the change is made, so that the audit log misses none. */
async function save(
  invocation: Invocation,
  config: Config,
  { changed, action }: { readonly changed: SealingKeySet; readonly action: AuditAction },
): Promise<void> {
  const { sealingKey } = config.keys
  const isPrinted = invocation.flag('print')
  if (!isPrinted && sealingKey.kind === 'value') {
    throw new OperatorError('keys.sealingKey is not a file, and cannot be changed from here', {
      hint: 'To put the new content there yourself: gatehouse sealing-key rotate --print',
    })
  }
  await withSealingOperator(invocation.config, ({ store, auditEntry }) =>
    store.appendAudit(auditEntry(action, undefined)),
  )
  if (isPrinted) invocation.terminal.out.write(formatSealingKeys(changed))
  else if (sealingKey.kind === 'file') replaceSealingKeys(sealingKey.file, changed)
}

async function resealStore(invocation: Invocation, keys: SealingKeySet): Promise<ResealReport> {
  const progress = createProgress({ verb: 'resealed', noun: 'accounts', err: invocation.terminal.err })
  try {
    return await withSealingOperator(invocation.config, ({ store }: Operator) =>
      reseal({ store, keys: acceptedKeys(keys), onProgress: progress.report }),
    )
  } finally {
    progress.end()
  }
}

/** When the last refresh token that the previous key may have signed expires, those of its last day included. */
function neededUntilOf({ tokens }: Config, { previous }: SealingKeySet): number {
  return previous === undefined ? 0 : startOfDay(previous.since + 1) + tokens.refreshLifetimeMs
}

function needsOf({ passwords, recoveryCodes, unreadable }: ResealReport, neededUntil: number): string[] {
  return [
    ...(unreadable > 0 ? [`${countOf(unreadable, 'sealed secret')} that neither key opens`] : []),
    ...(Date.now() < neededUntil ? [`refresh tokens until ${formatDay(dayOf(neededUntil))}`] : []),
    ...(passwords > 0 ? [`passwords of ${countOf(passwords, 'account')}`] : []),
    ...(recoveryCodes > 0 ? [`recovery codes of ${countOf(recoveryCodes, 'account')}`] : []),
  ]
}

function describe({ accounts, signingKeys, unreadable, passwords, recoveryCodes }: ResealReport): string[] {
  return [
    `Resealed: ${countOf(accounts, 'account')}, ${countOf(signingKeys, 'signing key')}.`,
    ...(unreadable > 0
      ? [
          `Neither key opens the secrets of ${countOf(unreadable, 'account or signing key', 'accounts or signing keys')}.`,
        ]
      : []),
    ...(passwords > 0
      ? [
          `The previous key is needed for passwords of ${countOf(passwords, 'account')}, until their owners next sign in.`,
        ]
      : []),
    ...(recoveryCodes > 0
      ? [`It is needed for recovery codes of ${countOf(recoveryCodes, 'account')}, until these are replaced.`]
      : []),
  ]
}

function reloadAll({ keys, store }: Config): string {
  if (keys.sealingKey.kind === 'value') return 'Set it for every instance, and restart them.'
  if (store.driver === 'sqlite') return 'Reload the gateway (SIGHUP, or POST /reload), if it runs.'
  return 'Give every instance this file, and reload them (SIGHUP, or POST /reload).'
}

/** With --print the output is the content of the key, so messages go to standard error. */
function tell(invocation: Invocation, data: object, lines: readonly string[]): void {
  if (invocation.flag('print')) printToStderr(invocation.terminal, lines.join('\n'))
  else printData(invocation, data, lines)
}

export const sealingKeyCommands: readonly Command[] = [rotate]
