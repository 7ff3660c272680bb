import { unlink } from 'node:fs/promises'
import { resolve } from 'node:path'
import { createAuditEntryFactory } from '#accounts/audit-log.ts'
import type { Config } from '#config/config.ts'
import { loadConfig } from '#config/load.ts'
import { createSigningKeys } from '#identity/tokens/signing-keys.ts'
import { OperatorError } from '#platform/errors/operator-error.ts'
import { readVersion } from '#platform/package.ts'
import { createSealer } from '#platform/secrets/sealing.ts'
import { createSealingKeys } from '#platform/secrets/sealing-key.ts'
import { countOf } from '#platform/text.ts'
import type { AccountStore } from '#store/accounts.ts'
import {
  backupLineBytesMax,
  type CheckedBackup,
  checkBackup,
  formatBackup,
  type WrittenBackup,
} from '#store/backup/backup-file.ts'
import type { BackupStore, RecordKind, Restoration } from '#store/backup/records.ts'
import type { SigningKeyStore } from '#store/signing-keys.ts'
import { type Command, type Invocation, type Terminal, UsageError } from './command.ts'
import { createPrivateFile, type ImportSource, standardStream, withImportSource } from './files.ts'
import { currentUser, withStore } from './operator.ts'
import { createProgress } from './output.ts'
import { printData, printToStderr } from './print.ts'
import { sealedSecretsOf } from './reseal.ts'
import { stoppable, until } from './signals.ts'

const backup: Command = {
  name: 'store backup',
  operands: ['FILE'],
  summary: 'Writes the whole store to a new file, beside running gateways. - is standard output.',
  examples: [
    'gatehouse store backup gatehouse.backup',
    'gatehouse store backup - | gzip > gatehouse.backup.gz',
  ],
  run: async (invocation, path) => {
    const { terminal } = invocation
    if (path === standardStream && terminal.out.isTTY)
      throw new UsageError('a backup is not printed on a terminal: name a file, or redirect standard output')
    const { config } = loadConfig(invocation.config)
    const { driver } = config.store
    const work = (stop?: AbortSignal) =>
      withStore(config, (store) => backUp(store, { path, driver, terminal, stop }))
    // On standard output nothing is left behind, and a reader that does not read would hold up the end.
    printWritten(await (path === standardStream ? work() : stoppable(work)), path, invocation)
  },
}

const restore: Command = {
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

export const storeCommands: readonly Command[] = [backup, restore]

interface BackupOptions {
  readonly path: string
  readonly driver: string
  readonly terminal: Terminal
  readonly stop: AbortSignal | undefined
}

async function backUp(
  store: BackupStore,
  { path, driver, terminal, stop }: BackupOptions,
): Promise<WrittenBackup> {
  const progress = createProgress({ verb: 'backed up', noun: 'accounts', err: terminal.err })
  const head = { version: readVersion(), at: new Date().toISOString(), driver }
  const text = formatBackup(head, until(stop, store.backUp()), progress.report)
  try {
    return await (path === standardStream ? writeToStandardOutput(text, terminal) : writeNewFile(path, text))
  } finally {
    progress.end()
  }
}

type BackupText = AsyncGenerator<string, WrittenBackup>

async function writeToStandardOutput(text: BackupText, { out }: Terminal): Promise<WrittenBackup> {
  return forEach(text, async (chunk) => {
    await out.write(chunk)
    if (out.failure) throw new OperatorError('the backup was not read to its end: discard it')
  })
}

/** The file is private, and on disk once this resolves; if writing fails, nothing is left of it. */
async function writeNewFile(path: string, text: BackupText): Promise<WrittenBackup> {
  const { file, failed } = await createPrivateFile(path, {
    exists: 'exists already: a backup overwrites nothing',
    hint: 'Choose another name, such as one with the date.',
  })
  try {
    const written = await forEach(text, (chunk) => file.writeFile(chunk).catch(failed))
    await file.sync()
    return written
  } catch (error) {
    await unlink(path).catch(() => {})
    throw error
  } finally {
    await file.close()
  }
}

async function forEach(text: BackupText, write: (chunk: string) => Promise<void>): Promise<WrittenBackup> {
  try {
    for (;;) {
      const { done, value } = await text.next()
      if (done) return value
      await write(value)
    }
  } catch (error) {
    // Ends the reading of the store.
    await text.return(undefined as never).catch(() => {})
    throw error
  }
}

/** If the backup itself goes to standard output, the summary goes to standard error. */
function printWritten(written: WrittenBackup, path: string, { asJson, terminal }: Invocation): void {
  const { accounts, records, bytes, sha256 } = written
  const isPrinted = path === standardStream
  const data = { ...(isPrinted ? {} : { file: resolve(path) }), accounts, records, bytes, sha256 }
  const line = `Backed up${isPrinted ? '' : ` to ${path}`}: ${countOf(accounts, 'account')}, ${countOf(records, 'record')} in all, ${bytes} bytes.`
  if (!isPrinted)
    printData({ asJson, terminal }, data, [line, 'Keep the sealing key too, and apart from it.'])
  else printToStderr(terminal, asJson ? JSON.stringify(data) : line)
}

/** @returns how many accounts were restored */
async function restoreFrom(
  source: ImportSource,
  {
    config,
    terminal,
    stop,
  }: { readonly config: Config; readonly terminal: Terminal; readonly stop: AbortSignal },
): Promise<number> {
  const checking = createProgress({ verb: 'checked', noun: 'accounts', err: terminal.err })
  const lines = { name: source.name, lines: () => until(stop, source.lines()) }
  const backup = await checkBackup(lines, checking.report).finally(checking.end)
  return withStore(config, async (store) => {
    const outcome = await writeRecords(store, backup, terminal)
    if (outcome.kind !== 'restored') throw refusal(outcome, config)
    const auditEntry = createAuditEntryFactory(currentUser(), Date.now)
    await store.appendAudit(auditEntry('store-restored', undefined, { accounts: backup.accounts }))
    await warnOfSealingKey(store, config, terminal)
    return backup.accounts
  })
}

async function writeRecords(
  store: BackupStore,
  backup: CheckedBackup,
  { err }: Terminal,
): Promise<Restoration> {
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

/** How many accounts' sealed secrets are tried: with the right key, any of them can be unsealed. */
const accountsTried = 100

/**
 * Warns if the configured sealing key does not open what was restored: the gateway would not start, or could not show
 * keys. The restore itself stands.
 */
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
