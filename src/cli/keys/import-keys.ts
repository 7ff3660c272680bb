import { keyInputData } from '#accounts/account-data.ts'
import { findByIdOrEmail } from '#accounts/account-input.ts'
import { fieldChanges } from '#accounts/apply/change.ts'
import { createKeyLineReader, type ImportedKeyLine } from '#accounts/import-keys-file.ts'
import { createKeyId, makeImportedKey } from '#accounts/keys/make-key.ts'
import { isSameBytes } from '#platform/secrets/sealing.ts'
import { countOf } from '#platform/text.ts'
import { withAddedKey } from '#store/account-changes/account-changes.ts'
import type { Account } from '#store/accounts.ts'
import { importBatchMax, type KeyImport, type SecretKeyAdded } from '#store/keys.ts'
import type { Command, Invocation, Terminal } from '../command.ts'
import { type ImportSource, invalidLines, recordsOf, withImportSource } from '../files.ts'
import { type Operator, withOperator } from '../operator.ts'
import { createProgress, type Progress } from '../output.ts'
import { printData, printToStderr } from '../print.ts'

/** How many wrong lines are listed at most. */
const listedMax = 100

interface NumberedKey {
  readonly line: number
  readonly key: ImportedKeyLine
}

interface CheckedLine {
  readonly line: number
  /** Why it is not imported; undefined = it will be, or is already. */
  readonly problem: string | undefined
}

interface Outcome {
  readonly line: number
  readonly outcome: SecretKeyAdded
}

const reasons: Readonly<Record<Exclude<SecretKeyAdded, 'added' | 'present'>, string>> = {
  unknown: 'account: there is no such account',
  taken: 'digest: another account has this key',
  exists: 'name: the account has another key of this name',
  'too-many': 'account: it has the maximum number of secret keys (keys.maxPerAccount)',
}

export const importKeysCommand: Command = {
  name: 'keys import',
  operands: ['FILE'],
  summary: 'Imports the SHA-256 of keys made elsewhere: CSV or JSON Lines; - is standard input.',
  examples: ['gatehouse keys import digests.csv', 'gunzip -c digests.csv.gz | gatehouse keys import -'],
  run: (invocation, path) =>
    withImportSource(path, invocation.terminal, (source) =>
      withOperator(invocation.config, (operator) => importKeys(invocation, source, operator)),
    ),
}

/** All lines are checked before the first is written. @returns the exit status */
async function importKeys(invocation: Invocation, source: ImportSource, operator: Operator): Promise<number> {
  const { terminal } = invocation
  const progressOf = (verb: string, total?: number) => createProgress({ verb, total, err: terminal.err })
  const problems = createProblems(source.name, terminal)
  const check = createCheck(operator)
  const total = await forEachBatch(source, progressOf('checked'), problems.add, async (batch) => {
    for (const { line, problem } of await Promise.all(batch.map(check)))
      if (problem !== undefined) problems.add(line, problem)
  })
  if (problems.count() > 0) {
    problems.close()
    throw invalidLines(source, problems.count())
  }
  const { store, auditEntry } = operator
  if (total > 0) await store.appendAudit(auditEntry('secret-key-created', undefined, { imported: total }))
  const counts = { lines: total, added: 0, present: 0, refused: 0 }
  await forEachBatch(source, progressOf('imported', total), problems.add, async (batch) => {
    for (const { line, outcome } of await write(operator, batch)) {
      if (outcome === 'added' || outcome === 'present') counts[outcome]++
      else problems.add(line, reasons[outcome])
    }
  })
  problems.close()
  counts.refused = problems.count()
  const { added, present, refused } = counts
  printData(invocation, counts, [`${added} added, ${present} already there, ${refused} refused.`])
  return refused > 0 ? 1 : 0
}

/** Reads the source by lines, batch by batch. @returns how many keys it has */
async function forEachBatch(
  source: ImportSource,
  progress: Progress,
  onBadLine: (line: number, message: string) => void,
  work: (batch: readonly NumberedKey[]) => Promise<void>,
): Promise<number> {
  let count = 0
  for await (const records of recordsOf(source, createKeyLineReader(Date.now()), importBatchMax)) {
    const batch: NumberedKey[] = []
    for (const { line, input } of records) {
      if (typeof input === 'string') onBadLine(line, input)
      else batch.push({ line, key: input })
    }
    await work(batch)
    count += batch.length
    progress.report(count)
  }
  progress.end()
  return count
}

/**
 * Why a line cannot be imported, by what the store has now and by the lines before it. Digests are compared by 64 of
 * their bits: the probability that two of a million lines collide is 1 in 37 million, and both are then named.
 * @returns a function for each next line
 */
function createCheck(operator: Operator): (line: NumberedKey) => Promise<CheckedLine> {
  const lines = new Map<bigint, number>()

  async function findProblem(key: ImportedKeyLine): Promise<string | undefined> {
    const account = await findByIdOrEmail(operator.store, key.account)
    if (!account) return reasons.unknown
    const holder = await operator.store.findImportedKey(key.digest)
    if (holder !== undefined && holder !== account.id) return reasons.taken
    const next = withAddedKey(account, toImport(operator, account.id, { key, keyId: '' }))
    if (typeof next !== 'string') return undefined
    return next === 'present' ? findDifference(account, key) : reasons[next]
  }

  return async ({ line, key }) => {
    const bits = Buffer.from(key.digest).readBigUInt64LE()
    const first = lines.get(bits)
    if (first !== undefined) return { line, problem: `digest: is already on line ${first}` }
    lines.set(bits, line)
    return { line, problem: await findProblem(key) }
  }
}

/** How the key that the account has differs from its line, as an import changes no key. */
function findDifference({ secretKeys }: Account, { digest, input }: ImportedKeyLine): string | undefined {
  const present = secretKeys.find((key) => isSameBytes(key.digest, digest))
  if (present === undefined) return undefined
  if (present.revokedAt !== undefined) return 'digest: the account has this key, which is being revoked'
  const fields = fieldChanges(keyInputData(present), keyInputData(input)).map(({ field }) => field)
  if (fields.length === 0) return undefined
  const names = fields.join(', ').replace('expiresAt', 'expires')
  return `digest: the account has this key with other values (${names}): use gatehouse apply, or revoke it first`
}

/** Writes a batch; lines of the file itself may collide, and somebody may have changed accounts meanwhile. */
async function write(operator: Operator, batch: readonly NumberedKey[]): Promise<readonly Outcome[]> {
  const ids = await Promise.all(
    batch.map(async ({ key }) => (await findByIdOrEmail(operator.store, key.account))?.id),
  )
  const imports = batch.map(({ key }, index) => {
    const id = ids[index]
    return id === undefined ? undefined : toImport(operator, id, { key, keyId: createKeyId() })
  })
  const outcomes = await operator.store.importSecretKeys(imports.flatMap((imported) => imported ?? []))
  let next = 0
  return batch.map(({ line }, index) => ({
    line,
    outcome: (imports[index] && outcomes[next++]) ?? 'unknown',
  }))
}

function toImport(
  { config }: Operator,
  accountId: string,
  { key, keyId }: { readonly key: ImportedKeyLine; readonly keyId: string },
): KeyImport {
  const secretKey = makeImportedKey(key, keyId, Date.now())
  return { accountId, secretKey, keysMax: config.keys.maxPerAccount }
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
    count: () => count,
    close: () => {
      if (count > listedMax) printToStderr(terminal, `and ${countOf(count - listedMax, 'invalid line')} more`)
    },
  }
}
