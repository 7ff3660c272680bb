import { createAuditEntryFactory } from '#accounts/audit-log.ts'
import type { Config } from '#config/config.ts'
import { loadConfig } from '#config/load.ts'
import { createSigningKeys } from '#identity/tokens/signing-keys.ts'
import { OperatorError } from '#platform/errors/operator-error.ts'
import { createSealer } from '#platform/secrets/sealing.ts'
import { createSealingKeys } from '#platform/secrets/sealing-key.ts'
import { countOf } from '#platform/text.ts'
import type { AccountStore } from '#store/accounts.ts'
import { backupLineBytesMax, type CheckedBackup, checkBackup } from '#store/backup/backup-file.ts'
import type { BackupStore, RecordKind, Restoration } from '#store/backup/records.ts'
import type { SigningKeyStore } from '#store/key-store.ts'
import type { Command, Terminal } from '../command.ts'
import { type ImportSource, withImportSource } from '../import/source.ts'
import { currentUser, withStore } from '../operator.ts'
import { printData, printToStderr } from '../print.ts'
import { sealedSecretsOf } from '../sealing-key/reseal.ts'
import { createProgress } from '../terminal/progress.ts'
import { stoppable, until } from './stoppable.ts'

export const restoreCommand: Command = {
  name: 'store restore',
  operands: ['FILE'],
  summary: 'Restores a backup into an empty store; all or nothing. - is standard input.',
  examples: [
    'gatehouse store restore gatehouse.backup',
    'gunzip -c gatehouse.backup.gz | gatehouse store restore -',
  ],
  run: async (invocation, path) => {
    const { terminal } = invocation
    const { config } = loadConfig(invocation.config)
    const restoreIt = async (source: ImportSource) => {
      const accounts = await stoppable((stop) => restoreFrom(source, { config, terminal, stop }))
      printData(invocation, { accounts }, [`Restored ${source.name}: ${countOf(accounts, 'account')}.`])
    }
    await withImportSource(path, terminal, restoreIt, backupLineBytesMax)
  },
}

interface Options {
  readonly config: Config
  readonly terminal: Terminal
  readonly stop: AbortSignal
}

/** @returns how many accounts were restored */
async function restoreFrom(source: ImportSource, { config, terminal, stop }: Options): Promise<number> {
  const checking = createProgress({ verb: 'checked', noun: 'accounts', err: terminal.err })
  const lines = { name: source.name, lines: () => until(stop, source.lines()) }
  const backup = await checkBackup(lines, checking.report).finally(checking.end)
  return withStore(config, async (store) => {
    const outcome = await restore(store, backup, terminal)
    if (outcome.kind !== 'restored') throw refusal(outcome, config)
    const auditEntry = createAuditEntryFactory(currentUser(), Date.now)
    await store.appendAudit(auditEntry('store-restored', undefined, { accounts: backup.accounts }))
    await warnOfSealingKey(store, config, terminal)
    return backup.accounts
  })
}

async function restore(store: BackupStore, backup: CheckedBackup, { err }: Terminal): Promise<Restoration> {
  const total = backup.accounts
  const progress = createProgress({ verb: 'restored', noun: 'accounts', total, err })
  let accounts = 0
  async function* batches() {
    for await (const batch of backup.records()) {
      yield batch
      for (const { kind } of batch) if (kind === 'account') accounts++
      progress.report(accounts)
    }
  }
  return store.restore(batches()).finally(progress.end)
}

function refusal(outcome: Exclude<Restoration, { readonly kind: 'restored' }>, { store }: Config) {
  if (outcome.kind !== 'used') {
    return new OperatorError('another process restores into this store', {
      hint: 'Wait until it has ended. One that was killed counts as ended after 10 s.',
    })
  }
  const place =
    store.driver === 'sqlite'
      ? 'another file in store.sqlite.path, or move this one away, with its -wal and -shm'
      : 'another store.redis.keyPrefix, or another Redis'
  return new OperatorError(`the store is not empty: it has ${nouns[outcome.by]}; nothing was restored`, {
    hint: `A backup is restored only into an empty store, before a gateway has used it: choose ${place}.`,
  })
}

const nouns: Readonly<Record<RecordKind, string>> = {
  store: 'been used',
  account: 'accounts',
  changed: 'accounts',
  gone: 'accounts',
  session: 'sessions',
  portalSession: 'portal sessions',
  keyUse: 'uses of keys',
  activity: 'uses of accounts',
  usage: 'usage',
  usagePrincipal: 'usage of foreign principals',
  quota: 'used quotas',
  signingKey: 'signing keys',
  blockedSubject: 'blocked subjects',
  audit: 'an audit log',
  auditChain: 'an audit log',
}

/** Accounts of which the sealed secrets are tried: with the right key any of them opens. */
const accountsTried = 100

/** The gateway would not start with another one, or could not show keys; but restored is restored. */
async function warnOfSealingKey(
  store: SigningKeyStore & Pick<AccountStore, 'listAccounts'>,
  { keys, tokens }: Config,
  terminal: Terminal,
): Promise<void> {
  try {
    const { keys: sealingKeys } = createSealingKeys(keys.sealingKey, { mayCreate: false })
    const { algorithm } = tokens
    const sealer = createSealer(sealingKeys)
    await createSigningKeys({ store, sealer, algorithm, clock: Date.now }).assertReadable()
    const accounts = await store.listAccounts({ after: undefined, limit: accountsTried })
    const secrets = accounts.flatMap(sealedSecretsOf)
    const isOpen = secrets.some(({ sealed, purpose }) => sealer.unseal(sealed, purpose) !== undefined)
    if (secrets.length > 0 && !isOpen)
      throw new OperatorError('the keys of accounts cannot be unsealed with this sealing key')
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    const advice = 'Before the gateway starts, put the sealing key of the backup in its place.'
    printToStderr(terminal, `gatehouse: ${error.message}\n  ${advice}`)
  }
}
