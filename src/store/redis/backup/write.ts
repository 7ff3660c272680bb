import { randomUUID } from 'node:crypto'
import { OperatorError } from '#platform/errors/operator-error.ts'
import type { EpochMs } from '#platform/time.ts'
import { termsOf } from '../../account-search.ts'
import { type Account, emailKey } from '../../accounts.ts'
import {
  type AnyRecord,
  accountOf,
  type RecordOf,
  type StoreRecord,
  signingKeyOf,
} from '../../backup/records.ts'
import { importedDigests } from '../../keys.ts'
import { identityKeysOf } from '../../portal-access.ts'
import { retentionAfterEndMs } from '../../sessions.ts'
import { usageBatchMax } from '../../usage.ts'
import { accountText, signingKeyText } from '../data-layout.ts'
import type { Connection } from '../open-connection.ts'
import { portalSessionText } from '../portal.ts'
import { addCounts } from '../usage.ts'

export type Command = readonly (string | number)[]

/** The only kinds that are not written by commands on keys of the slot of accounts. */
type ByCommands = Exclude<StoreRecord['kind'], 'store' | 'usage' | 'quota'>

/**
 * Writes batch by batch, and keeps what is only written at the end.
 * @param run runs commands on keys of one slot, and returns their replies
 */
export function createRecordWriter(
  connection: Connection,
  run: (commands: readonly Command[]) => Promise<readonly unknown[]>,
) {
  const { keys } = connection
  const nextAuditId = createAuditIds()
  let store: Pick<RecordOf<'store'>, 'id' | 'head'> = { id: '', head: 0 }

  /** @throws OperatorError where a record excludes one before it */
  async function write(records: readonly StoreRecord[]): Promise<void> {
    const accounts = records.filter((record) => record.kind === 'account').map(accountOf)
    await writeAccounts(accounts)
    const now = Date.now()
    const commands: Command[] = []
    const quotas: RecordOf<'quota'>[] = []
    const usage: RecordOf<'usage'>[] = []
    for (const record of records) {
      if (record.kind === 'store') store = record
      else if (record.kind === 'quota') quotas.push(record)
      else if (record.kind === 'usage') usage.push(record)
      else if (record.kind !== 'account') commands.push(...commandsOf(record, now))
    }
    if (commands.length > 0) await run(commands)
    for (let start = 0; start < usage.length; start += usageBatchMax)
      await addCounts(
        connection,
        { id: randomUUID(), entries: usage.slice(start, start + usageBatchMax) },
        () => keys.restore,
      )
    // Each is in a different slot.
    await Promise.all(
      quotas.filter(({ keptUntil }) => keptUntil > now).map((quota) => run(quotaCommands(quota))),
    )
  }

  /** Redis returns how many entries are new to an index, which shows whether one was there before. */
  async function writeAccounts(accounts: readonly Account[]): Promise<void> {
    if (accounts.length === 0) return
    const indexes = [
      { key: keys.emails, what: 'e-mail', entries: accounts.map(({ email, id }) => [emailKey(email), id]) },
      {
        key: keys.identities,
        what: 'person at an OpenID provider',
        entries: accounts.flatMap((account) => identityKeysOf(account).map((key) => [key, account.id])),
      },
      {
        key: keys.importedKeys,
        what: 'imported key',
        entries: accounts.flatMap((account) =>
          importedDigests(account).map((digest) => [digest, account.id]),
        ),
      },
    ].filter(({ entries }) => entries.length > 0)
    const terms = accounts.flatMap((account) =>
      termsOf(account).flatMap((term) => [0, `${term}\0${account.id}`]),
    )
    const replies = await run([
      ...indexes.map(({ key, entries }) => ['hset', key, ...entries.flat()]),
      ['zadd', keys.ids, ...accounts.flatMap(({ createdAt, id }) => [createdAt, id])],
      ['zadd', keys.terms, ...terms],
      ...accounts.map((account) => ['set', keys.account(account.id), accountText(account)]),
    ])
    for (const [index, { what, entries }] of indexes.entries()) {
      if (replies[index] !== entries.length)
        throw new OperatorError(`the backup has several accounts with one ${what}`)
    }
    if (replies[indexes.length] !== accounts.length)
      throw new OperatorError('the backup has several accounts with one ID')
  }

  function commandsOf(record: AnyRecord<Exclude<ByCommands, 'account'>>, now: EpochMs): readonly Command[] {
    switch (record.kind) {
      case 'session':
        return record.livesUntil + retentionAfterEndMs > now ? sessionCommands(record) : []
      case 'portalSession': {
        const { kind: _, epoch, ...session } = record
        const key = keys.portalSessionsOf(record.accountId)
        const text = `${epoch} ${session.createdAt} ${session.expiresAt} ${portalSessionText(session)}`
        return record.expiresAt > now
          ? [['hset', key, record.id, text], ...keptUntil(key, record.expiresAt)]
          : []
      }
      case 'keyUse': {
        const { accountId, digest, at, scheme, address } = record
        return [['hset', keys.keyUsesOf(accountId), digest, `${at} ${scheme} ${address}`]]
      }
      case 'activity':
        return [['zadd', keys.activeDays, 'GT', record.day, record.accountId]]
      case 'usagePrincipal':
        return [['zadd', keys.usagePrincipals, record.day, record.id]]
      case 'signingKey':
        return [['hset', keys.signingKeys, record.kid, signingKeyText(signingKeyOf(record))]]
      case 'blockedSubject':
        return [['zadd', keys.blockedSubjects, record.blockedAt, record.principalId]]
      case 'audit': {
        const { id, n } = nextAuditId(record)
        const stream = record.class === 'own' ? keys.ownAudit : keys.audit
        const link = record.link === '' ? [] : ['link', record.link]
        return [
          ['xadd', stream, id, 'entry', record.entry, ...link],
          ['hset', keys.auditChains, 'n', n],
        ]
      }
      case 'auditChain': {
        const { class: name, trimmed, last } = record
        const fields = [...fieldOf(`${name}:trimmed`, trimmed), ...fieldOf(`${name}:last`, last)]
        return fields.length === 0 ? [] : [['hset', keys.auditChains, ...fields]]
      }
      default:
        return record satisfies never
    }
  }

  /** The index of open sessions is built when it is first needed. */
  function sessionCommands(session: RecordOf<'session'>): readonly Command[] {
    const { id, accountId, livesUntil, acknowledgedAt, end, userAgent, kind: _, ...fields } = session
    const named = { ...fields, id, accountId, acknowledgedAt: acknowledgedAt ?? 0, client: userAgent }
    const until = livesUntil + retentionAfterEndMs
    const all = keys.sessionsOf(accountId)
    return [
      ['hset', keys.session(id), ...Object.entries(named).flat(), ...(end === null ? [] : ['end', end])],
      ['pexpireat', keys.session(id), until],
      ['zadd', all, livesUntil, id],
      ...keptUntil(all, until),
    ]
  }

  function quotaCommands({
    accountId,
    window,
    granted,
    held,
    keptUntil,
  }: RecordOf<'quota'>): readonly Command[] {
    const key = keys.quota(accountId, window)
    // The cast is sound for what a store has written.
    const holders = Object.entries(held as Readonly<Record<string, readonly number[]>>)
    const fields = holders.flatMap(([holder, numbers]) => [`by ${holder}`, numbers.join(' ')])
    return [
      ['hset', key, 'granted', granted, ...fields],
      ['pexpireat', key, keptUntil],
    ]
  }

  return {
    write,
    /** Identity and head of the store; empty = it has none. */
    get store() {
      return store
    },
  }
}

/** Never shortens it. */
function keptUntil(key: string, time: number): readonly Command[] {
  return [
    ['pexpireat', key, time, 'GT'],
    ['pexpireat', key, time, 'NX'],
  ]
}

function fieldOf(name: string, value: string): readonly string[] {
  return value === '' ? [] : [name, value]
}

/** IDs as audited.lua makes them: by time, and greater than all before, so that both streams can be read as one. */
function createAuditIds() {
  let lastMs = 1
  let n = 0
  return ({ entry }: RecordOf<'audit'>) => {
    const { at } = JSON.parse(entry) as { readonly at: number }
    lastMs = Math.max(lastMs, Math.floor(at))
    n++
    return { id: `${lastMs}-${n}`, n }
  }
}
