import type { ErrorCode } from '#platform/errors/codes.ts'
import { type FieldError, GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { Account } from '#store/accounts.ts'
import type { Actor } from '#store/audit-entry.ts'
import type { Accounts } from '../accounts.ts'
import { UnconfirmedKeys } from '../keys/make-key.ts'
import type { SecretKeys } from '../keys/secret-keys.ts'
import type { Change, Step } from './change.ts'
import { assertNoErrors, type DesiredState, findStateErrors } from './desired-state.ts'
import { type PlanStore, type Prune, planChanges } from './plan.ts'
import { createKeyWriter, type KeyWriterOptions } from './write-keys.ts'

export interface ApplyRequest {
  /** Changes nothing, and returns what would be changed. */
  readonly isDryRun: boolean
  /** undefined = what the file does not list stays as it is. */
  readonly prune: Prune | undefined
  /** Maximum number of accounts in the file. */
  readonly accountsMax: number
  /** Whether the actor may change their own account (default: true), except to disable or demote it. */
  readonly mayChangeOwn?: boolean
  /** Called before the first change. @param makesKeys whether `onKeys` will be called */
  onPlanned?(makesKeys: boolean): Promise<void>
  /** Called with new keys before they are valid; if it throws, their change is undone and the run ends. */
  onKeys?(keys: readonly NewKeys[]): Promise<void>
  /** Called after each change. */
  onProgress?(done: number, total: number): void
}

/** Generated keys: the two of a new account, or a further secret key. */
export interface NewKeys {
  /** E-mail. */
  readonly account: string
  readonly id: string
  /** The name of the secret key. */
  readonly name: string
  readonly secretKey: string
  /** Only for a new account. */
  readonly apiKey?: string
}

export interface ApplyResult {
  readonly isDryRun: boolean
  /** In the order in which they are made. */
  readonly changes: readonly (Change & { readonly isDone: boolean })[]
  /** How many accounts of the file needed no change. */
  readonly unchanged: number
  /** Shown now and never again. */
  readonly keys: readonly NewKeys[]
  /** Why the run ended before the last change; undefined = all changes were made. */
  readonly failure: ApplyFailure | undefined
}

interface ApplyFailure {
  readonly code: ErrorCode
  readonly message: string
  /** The account of the change that failed. */
  readonly account: string
}

/**
 * Brings the store to the state that a file describes. A run that ended early can be repeated, and makes the remaining
 * changes.
 */
export interface Apply {
  /**
   * @param state valid by the schema of the file
   * @throws GatehouseError `request-invalid` with every error, `own-account`, `last-admin`; also whatever the first
   *   change throws, as nothing has been changed then. If a later change throws, the result has a `failure` instead, as
   *   the new keys must be shown.
   */
  run(state: DesiredState, request: ApplyRequest): Promise<ApplyResult>
}

interface ApplyOptions extends KeyWriterOptions {
  readonly store: KeyWriterOptions['store'] & PlanStore
  readonly accounts: Accounts
  readonly secretKeys: Pick<SecretKeys, 'revoke'>
  readonly by: Actor
}

export function createApply(options: ApplyOptions): Apply {
  const { store, accounts, secretKeys, by, keysMax, clock } = options
  const writer = createKeyWriter(options)

  /** @param onKeys called with the keys that it generates */
  async function make(
    { change, work }: Step,
    onKeys: (keys: readonly NewKeys[]) => Promise<void>,
  ): Promise<void> {
    switch (work.kind) {
      case 'create-account':
        await accounts.createAll([work.input], (created) =>
          onKeys(
            created.map(({ account, secretKey, apiKey }) => ({
              ...keysOf(account, 'default', secretKey),
              apiKey,
            })),
          ),
        )
        return
      case 'update-account':
        await accounts.update(work.id, work.changes)
        return
      case 'create-key': {
        const account = await accounts.get(work.id ?? change.account)
        await writer.create(account, work, (key) => onKeys([keysOf(account, work.input.name, key)]))
        return
      }
      case 'replace-key':
        return writer.replace(await accounts.get(work.id), work.replacement)
      case 'update-key':
        return writer.update(await accounts.get(work.id), work.replacement)
      case 'revoke-key':
        await secretKeys.revoke(work.id, work.name, 0)
        return
      default:
        return work satisfies never
    }
  }

  async function makeAll(
    steps: readonly Step[],
    { onKeys, onProgress }: ApplyRequest,
  ): Promise<Pick<ApplyResult, 'keys' | 'failure'> & { readonly done: number }> {
    const keys: NewKeys[] = []
    for (const [done, step] of steps.entries()) {
      let made: readonly NewKeys[] = []
      try {
        await make(step, async (each) => {
          await onKeys?.(each)
          made = each
        })
      } catch (error) {
        const mayBeSaved = error instanceof UnconfirmedKeys
        if (done === 0 && !mayBeSaved) throw error
        if (mayBeSaved) keys.push(...made)
        const failed =
          error instanceof GatehouseError ? error : new GatehouseError('internal', { cause: error })
        return { keys, failure: failureOf(failed, step), done }
      }
      keys.push(...made)
      onProgress?.(done + 1, steps.length)
    }
    return { keys, failure: undefined, done: steps.length }
  }

  return {
    run: async (state, request) => {
      const { isDryRun, prune, accountsMax, mayChangeOwn = true } = request
      assertNoErrors(findStateErrors(state, { accountsMax, planNames: accounts.planNames }))
      const planned = await planChanges(state, { store, by, mayChangeOwn, prune, keysMax, now: clock() })
      const { steps, unchanged } = planned
      if (!isDryRun) await request.onPlanned?.(steps.some(makesKeys))
      const { keys, failure, done } = await makeAll(isDryRun ? [] : steps, request)
      const changes = steps.map(({ change }, index) => ({ ...change, isDone: index < done }))
      return { isDryRun, changes, unchanged, keys, failure }
    },
  }
}

function makesKeys({ work }: Step): boolean {
  return work.kind === 'create-account' || (work.kind === 'create-key' && work.digest === undefined)
}

function keysOf({ id, email: account }: Account, name: string, secretKey: string): NewKeys {
  return { account, id, name, secretKey }
}

function failureOf(error: GatehouseError, { change }: Step): ApplyFailure {
  const fields = error.errors?.map(({ message }: FieldError) => message).join('; ')
  const message = error.code === 'request-invalid' ? fields : undefined
  return { code: error.code, message: message ?? error.detail ?? error.title, account: change.account }
}

/** The result as commands and the admin API show it. */
export function applyData({ isDryRun, changes, unchanged, keys, failure }: ApplyResult) {
  return {
    dryRun: isDryRun,
    complete: failure === undefined,
    changes: changes.map(({ isDone, ...change }) => ({ ...change, done: isDone })),
    unchanged,
    keys,
    failure: failure ? { code: failure.code, detail: failure.message, account: failure.account } : null,
  }
}
