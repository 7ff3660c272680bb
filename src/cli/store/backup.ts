import { unlink } from 'node:fs/promises'
import { resolve } from 'node:path'
import { loadConfig } from '#config/load.ts'
import { OperatorError } from '#platform/errors/operator-error.ts'
import { readVersion } from '#platform/package.ts'
import { countOf } from '#platform/text.ts'
import { formatBackup, type WrittenBackup } from '#store/backup/backup-file.ts'
import type { BackupStore } from '#store/backup/records.ts'
import { type Command, type Invocation, type Terminal, UsageError } from '../command.ts'
import { standardStream } from '../import/source.ts'
import { createPrivateFile } from '../new-private-file.ts'
import { withStore } from '../operator.ts'
import { printData, printToStderr } from '../print.ts'
import { createProgress } from '../terminal/progress.ts'
import { stoppable, until } from './stoppable.ts'

export const backupCommand: Command = {
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

interface Options {
  readonly path: string
  readonly driver: string
  readonly terminal: Terminal
  readonly stop: AbortSignal | undefined
}

async function backUp(store: BackupStore, { path, driver, terminal, stop }: Options): Promise<WrittenBackup> {
  const progress = createProgress({ verb: 'backed up', noun: 'accounts', err: terminal.err })
  const head = { version: readVersion(), at: new Date().toISOString(), driver }
  const text = formatBackup(head, until(stop, store.backUp()), progress.report)
  try {
    return await (path === standardStream ? print(text, terminal) : writeNewFile(path, text))
  } finally {
    progress.end()
  }
}

type Text = AsyncGenerator<string, WrittenBackup>

async function print(text: Text, { out }: Terminal): Promise<WrittenBackup> {
  return forEach(text, async (chunk) => {
    await out.write(chunk)
    if (out.failure) throw new OperatorError('the backup was not read to its end: discard it')
  })
}

/** Private, and on disk once it is there; nothing is left of one that fails. */
async function writeNewFile(path: string, text: Text): Promise<WrittenBackup> {
  const { file, failed } = await createPrivateFile(path, {
    problem: ' already: a backup overwrites nothing',
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

async function forEach(text: Text, write: (chunk: string) => Promise<void>): Promise<WrittenBackup> {
  try {
    for (;;) {
      const { done, value } = await text.next()
      if (done) return value
      await write(value)
    }
  } catch (error) {
    // The store is still read from.
    await text.return(undefined as never).catch(() => {})
    throw error
  }
}

/** On standard output is the backup itself, if it was asked for there. */
function printWritten(written: WrittenBackup, path: string, { asJson, terminal }: Invocation): void {
  const { accounts, records, bytes, sha256 } = written
  const isPrinted = path === standardStream
  const data = { ...(isPrinted ? {} : { file: resolve(path) }), accounts, records, bytes, sha256 }
  const line = `Backed up${isPrinted ? '' : ` to ${path}`}: ${countOf(accounts, 'account')}, ${countOf(records, 'record')} in all, ${bytes} bytes.`
  if (!isPrinted)
    printData({ asJson, terminal }, data, [line, 'Keep the sealing key too, and apart from it.'])
  else printToStderr(terminal, asJson ? JSON.stringify(data) : line)
}
