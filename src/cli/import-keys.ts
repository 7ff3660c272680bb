import { type FileHandle, open } from 'node:fs/promises'
import { findByIdOrEmail } from '../accounts/accounts.ts'
import { createKeyLineReader, type ImportedKeyLine } from '../accounts/key-import.ts'
import { createKeyId } from '../accounts/make-key.ts'
import { OperatorError } from '../errors/operator-error.ts'
import { errorMessage } from '../platform/system-error.ts'
import type { Account } from '../store/account.ts'
import { importBatchMax, type KeyImport, type KeyImported, withImportedKey } from '../store/imported-keys.ts'
import type { Command, Terminal } from './command.ts'
import { type Operator, withOperator } from './operator.ts'
import { printData, printToStderr } from './print.ts'

/** How many wrong lines are listed at most. */
const listedMax = 100
const progressMs = { terminal: 500, other: 10_000 } as const

interface Line {
  readonly line: number
  readonly key: ImportedKeyLine
}

interface Checked extends Line {
  readonly imported: KeyImport | undefined
  readonly outcome: KeyImported
}

const reasons: Readonly<Record<Exclude<KeyImported, 'added' | 'present'>, string>> = {
  unknown: 'account: there is no such account',
  taken: 'digest: another account has this key',
  exists: 'name: the account has another key of this name',
  'too-many': 'account: it has as many secret keys as it may have (keys.maxPerAccount)',
}

export const importKeysCommand: Command = {
  name: 'keys import',
  operands: ['FILE'],
  summary: 'Imports the SHA-256 of keys made elsewhere, from CSV or JSON Lines.',
  examples: ['gatehouse keys import digests.csv'],
  printsData: true,
  run: async (invocation) => {
    const [path = ''] = invocation.operands
    const { terminal } = invocation
    return withOperator(invocation.config, async (operator) => {
      const problems = createProblems(path, terminal)
      const total = await forEachBatch(path, progressOf('checked', terminal), problems.add, async (batch) => {
        for (const { line, outcome } of await check(operator, batch)) problems.addOutcome(line, outcome)
      })
      if (problems.count() > 0) {
        problems.close()
        throw new OperatorError(`${path} has ${countLines(problems.count())}; nothing was imported`, {
          hint: 'Correct them and import the file again.',
        })
      }
      const { store, auditEntry } = operator
      if (total > 0) await store.appendAudit(auditEntry('secret-key-created', undefined, { imported: total }))
      const counts = { lines: total, added: 0, present: 0, refused: 0 }
      await forEachBatch(path, progressOf('imported', terminal), problems.add, async (batch) => {
        for (const { line, outcome } of await write(operator, batch)) {
          if (outcome === 'added' || outcome === 'present') counts[outcome]++
          problems.addOutcome(line, outcome)
        }
      })
      problems.close()
      counts.refused = problems.count()
      const { added, present, refused } = counts
      printData(invocation, counts, [`${added} added, ${present} already there, ${refused} refused.`])
      return refused > 0 ? 1 : 0
    })
  },
}

/** Reads the file by lines, so that one of any length takes no memory. @returns how many keys it has */
async function forEachBatch(
  path: string,
  report: (count: number, isLast: boolean) => void,
  onBadLine: (line: number, message: string) => void,
  work: (batch: readonly Line[]) => Promise<void>,
): Promise<number> {
  const file = await openFile(path)
  const read = createKeyLineReader(Date.now())
  let [line, count, batch]: [number, number, Line[]] = [0, 0, []]
  for await (const text of file.readLines()) {
    line++
    const key = read(text)
    if (typeof key === 'string') onBadLine(line, key)
    else if (key) batch.push({ line, key })
    if (batch.length < importBatchMax) continue
    await work(batch)
    count += batch.length
    batch = []
    report(count, false)
  }
  await work(batch)
  count += batch.length
  report(count, true)
  return count
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path)
  } catch (cause) {
    throw new OperatorError(`cannot read ${path}: ${errorMessage(cause)}`, { cause })
  }
}

/** What the import of each line would do, by what the store has now. */
function check(operator: Operator, batch: readonly Line[]): Promise<readonly Checked[]> {
  return Promise.all(
    batch.map(async ({ line, key }): Promise<Checked> => {
      const account = await findByIdOrEmail(operator.store, key.account)
      if (!account) return { line, key, imported: undefined, outcome: 'unknown' }
      const imported = toImport(operator, account, key)
      const holder = await operator.store.findImportedKey(key.digest)
      if (holder !== undefined && holder !== account.id) return { line, key, imported, outcome: 'taken' }
      const next = withImportedKey(account, imported)
      return { line, key, imported, outcome: typeof next === 'string' ? next : 'added' }
    }),
  )
}

/** Writes a batch; lines of the file itself may collide, and somebody may have changed accounts meanwhile. */
async function write(
  operator: Operator,
  batch: readonly Line[],
): Promise<readonly Pick<Checked, 'line' | 'outcome'>[]> {
  const checked = await check(operator, batch)
  const imports = checked.flatMap(({ imported }) => imported ?? [])
  const outcomes = await operator.store.importSecretKeys(imports)
  let next = 0
  return checked.map(({ line, imported }) => ({
    line,
    outcome: (imported && outcomes[next++]) ?? 'unknown',
  }))
}

function toImport({ config }: Operator, { id }: Account, { digest, input }: ImportedKeyLine): KeyImport {
  const secretKey = {
    ...input,
    id: createKeyId(),
    digest,
    sealed: undefined,
    createdAt: Date.now(),
    revokedAt: undefined,
    isImported: true,
  } as const
  return { accountId: id, secretKey, keysMax: config.keys.maxPerAccount }
}

/** Lists the first wrong lines, and counts all. */
function createProblems(path: string, terminal: Terminal) {
  let count = 0

  function add(line: number, message: string): void {
    count++
    if (count <= listedMax) printToStderr(terminal, `${path}:${line}  ${message}`)
  }

  return {
    add,
    addOutcome: (line: number, outcome: KeyImported) => {
      if (outcome !== 'added' && outcome !== 'present') add(line, reasons[outcome])
    },
    count: () => count,
    close: () => {
      if (count > listedMax) printToStderr(terminal, `and ${countLines(count - listedMax)} more`)
    },
  }
}

function countLines(count: number): string {
  return count === 1 ? '1 invalid line' : `${count} invalid lines`
}

function progressOf(verb: string, { err }: Terminal): (count: number, isLast: boolean) => void {
  const intervalMs = err.isTTY ? progressMs.terminal : progressMs.other
  let next = performance.now() + intervalMs
  let hasShown = false
  return (count, isLast) => {
    if (isLast && hasShown && err.isTTY) err.write('\n')
    if (isLast || performance.now() < next) return
    hasShown = true
    next = performance.now() + intervalMs
    err.write(err.isTTY ? `\r${verb} ${count}` : `${verb} ${count}\n`)
  }
}
