import { isUtf8 } from 'node:buffer'
import { type ApplyResult, applyData } from '#accounts/apply/apply.ts'
import type { Change, FieldChange } from '#accounts/apply/change.ts'
import { applyMax, type DesiredState, desiredState, findStateErrors } from '#accounts/apply/desired-state.ts'
import { quotaText } from '#accounts/keys/input.ts'
import { findSchemaErrors } from '#api/validate-with-schemas.ts'
import { loadConfig } from '#config/load.ts'
import { listProblems } from '#config/problem.ts'
import { type ConfigFile, readConfigFile } from '#config/read-config-file.ts'
import { type FieldError, GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { errorMessage, OperatorError } from '#platform/errors/operator-error.ts'
import { readAtMost } from '#platform/files.ts'
import { isRecord } from '#platform/json.ts'
import { countOf } from '#platform/text.ts'
import type { Quota } from '#store/quotas.ts'
import { type Command, type Invocation, type Terminal, UsageError } from './command.ts'
import { type KeysFile, openKeysFile, readInput, standardStream } from './files.ts'
import { type Operator, withSealingOperator } from './operator.ts'
import { createProgress } from './output.ts'
import { printData, printToStderr, table } from './print.ts'

export const applyCommand: Command = {
  name: 'apply',
  operands: ['FILE'],
  summary: 'Makes accounts and keys match a file (YAML or JSON); - is standard input.',
  examples: [
    'gatehouse apply accounts.yaml --dry-run',
    'gatehouse apply accounts.yaml --keys-out new-keys.jsonl',
    'gatehouse apply accounts.yaml --prune --prune-max 3',
  ],
  options: {
    'dry-run': { help: 'Shows what would be changed, and changes nothing.' },
    prune: {
      help: 'Also revokes further keys that the entry of their account does not list, and disables accounts that the file listed before but no longer does.',
    },
    'prune-max': {
      value: 'N',
      help: 'Maximum number of accounts and keys to prune; default: half of the accounts, and half of the keys.',
    },
    'keys-out': {
      value: 'FILE',
      help: 'Writes new keys to a new file, as JSON lines, before they are valid; by default they are printed.',
    },
  },
  run: async (invocation, path) => {
    const prune = readPrune(invocation)
    const { plans } = loadConfig(invocation.config).config
    const file = await readStateFile(path, invocation.terminal, Object.keys(plans))
    return withSealingOperator(invocation.config, (operator) => apply(file, { operator, prune, invocation }))
  },
}

interface ApplyContext {
  readonly operator: Operator
  readonly prune: { readonly max: number | undefined } | undefined
  readonly invocation: Invocation
}

function readPrune({ flag, text }: Invocation): ApplyContext['prune'] {
  const max = text('prune-max')
  if (max !== undefined && !/^\d{1,9}$/.test(max)) throw new UsageError('--prune-max must be a number')
  if (max !== undefined && !flag('prune')) throw new UsageError('--prune-max needs --prune')
  return flag('prune') ? { max: max === undefined ? undefined : Number(max) } : undefined
}

async function apply(file: StateFile, { operator, prune, invocation }: ApplyContext): Promise<number> {
  const { terminal, flag, text } = invocation
  const path = text('keys-out')
  let keysFile: KeysFile | undefined
  const progress = createProgress({ verb: 'made', noun: 'changes', err: terminal.err })
  const running = operator.apply.run(file.state, {
    isDryRun: flag('dry-run'),
    prune,
    accountsMax: applyMax.command,
    onPlanned: async (makesKeys) => {
      if (makesKeys && path !== undefined) keysFile = await openKeysFile(path)
    },
    onKeys: async (keys) => keysFile?.add(keys),
    onProgress: (done) => progress.report(done),
  })
  try {
    const result = await file.locating(running)
    progress.end()
    printResult(result, { file, path, invocation })
    return result.failure ? 1 : 0
  } finally {
    await keysFile?.close()
  }
}

function printResult(
  result: ApplyResult,
  {
    file,
    path,
    invocation,
  }: { readonly file: StateFile; readonly path: string | undefined; readonly invocation: Invocation },
): void {
  const { changes, keys, isDryRun, failure } = result
  const shown = path === undefined ? keys : []
  const done = changes.filter(({ isDone }) => isDone)
  printData(invocation, applyData({ ...result, keys: shown }), () => [
    ...(isDryRun ? changes : done).map(changeLine),
    summaryOf(result, file.name),
    ...(shown.length > 0 ? ['New keys. Save them: they are not shown again.', ...keysTable(shown)] : []),
    ...(path !== undefined && keys.length > 0 ? [`The new keys are in ${path}.`] : []),
  ])
  if (!failure) return
  printToStderr(
    invocation.terminal,
    `gatehouse: ${failure.account}: ${failure.message}\n  ${done.length} of ${changes.length} changes were made. Apply the file again to make the others.${
      path === undefined ? '' : ` ${path} may have keys of the change that failed, which are not valid.`
    }`,
  )
}

function summaryOf({ changes, isDryRun, failure }: ApplyResult, name: string): string {
  if (changes.length === 0) return `Everything already matches ${name}; nothing was changed.`
  if (isDryRun) return `${countOf(changes.length, 'change')} to make; nothing was changed.`
  return failure ? 'Not all changes were made.' : `${countOf(changes.length, 'change')} made.`
}

const signs: Readonly<Record<Change['action'], string>> = {
  'create-account': '+ account',
  'update-account': '~ account',
  'disable-account': '- account',
  'create-key': '+ key',
  'replace-key': '~ key',
  'update-key': '~ key',
  'revoke-key': '- key',
}

/** Such as `~ key ada@example.com ci  quota: none -> 1000/day`. */
function changeLine({ action, account, key, fields }: Change): string {
  const subject = [signs[action], account, ...(key === undefined ? [] : [key])].join(' ')
  const isNew = action.startsWith('create-')
  const texts = fields.map((field) => fieldText(field, isNew))
  return texts.length === 0 ? subject : `${subject}  ${texts.join(', ')}`
}

function fieldText({ field, from, to }: FieldChange, isNew: boolean): string {
  return isNew ? `${field}: ${valueText(to)}` : `${field}: ${valueText(from)} -> ${valueText(to)}`
}

function valueText(value: unknown): string {
  if (value === null) return 'none'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(' ')
  // The cast is sound: the only object among the fields is a quota.
  if (isRecord(value)) return quotaText(value as unknown as Quota)
  return value === '' ? '""' : String(value)
}

function keysTable(keys: ApplyResult['keys']): readonly string[] {
  return table(keys, {
    columns: {
      ACCOUNT: ({ account }) => account,
      NAME: ({ name }) => name,
      'SECRET KEY': ({ secretKey }) => secretKey,
      'API KEY': ({ apiKey }) => apiKey,
    },
    whenEmpty: '',
  })
}

/** A file that describes accounts and their keys. */
interface StateFile {
  /** Its name in messages. */
  readonly name: string
  readonly state: DesiredState
  /** Adds file and line to the errors about the state that some work throws. */
  locating<Result>(work: Promise<Result>): Promise<Result>
}

const pruneHint = 'Nothing was changed. See --prune-max in gatehouse apply --help.'

/** Large enough for `applyMax.command` accounts. */
const fileBytesMax = 8 * 1_048_576

/**
 * Reads YAML, or JSON, which is YAML too.
 * @throws OperatorError with every problem that does not depend on the store, and its line
 */
async function readStateFile(
  path: string,
  terminal: Terminal,
  planNames: readonly string[],
): Promise<StateFile> {
  const name = path === standardStream ? 'standard input' : path
  const bytes = await readBytes(path, terminal).catch((cause: unknown) => {
    throw new OperatorError(`cannot read ${name}: ${errorMessage(cause)}`, { cause })
  })
  if (!isUtf8(bytes)) throw new OperatorError(`cannot read ${name}: it is not UTF-8`)
  const file = readConfigFile(name, bytes.toString())
  if (file.problems.length > 0) throw invalid(name, listProblems(file.problems))
  const errors = [
    ...findSchemaErrors(desiredState, file.tree),
    ...findStateErrors(file.tree, { accountsMax: applyMax.command, planNames }),
  ]
  if (errors.length > 0) throw invalid(name, linesOf(errors, file))
  return {
    name,
    // The cast is sound: the schema accepts it.
    state: file.tree as unknown as DesiredState,
    locating: (work) =>
      work.catch((error: unknown) => {
        if (!(error instanceof GatehouseError) || error.code !== 'request-invalid') throw error
        const errors = error.errors ?? []
        const ofFile = errors.filter(({ field }) => field.startsWith('accounts'))
        if (ofFile.length > 0) throw invalid(name, linesOf(ofFile, file))
        throw new OperatorError(errors.map(({ message }) => message).join('; '), { hint: pruneHint })
      }),
  }
}

async function readBytes(path: string, { input = process.stdin }: Terminal): Promise<Buffer> {
  if (path !== standardStream) return readAtMost(path, fileBytesMax)
  const bytes = await readInput(input, fileBytesMax)
  if (bytes.length > fileBytesMax) throw new Error(`it is larger than ${fileBytesMax / 1_048_576} MiB`)
  return bytes
}

function linesOf(errors: readonly FieldError[], file: ConfigFile): readonly string[] {
  return listProblems(
    errors.map(({ field, message }) => {
      const path = field.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part))
      return { path, message, source: file.locate(path) }
    }),
  )
}

function invalid(name: string, lines: readonly string[]): OperatorError {
  return new OperatorError([`${name} is invalid; nothing was changed:`, ...lines].join('\n  '))
}
