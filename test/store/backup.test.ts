import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { verifyAudit } from '#accounts/verify-audit.ts'
import { digestOf } from '#platform/secrets/keys.ts'
import { backupFormat } from '#store/backup/backup-file.ts'
import type { BackupRecord } from '#store/backup/records.ts'
import { startRedis } from '../setup/redis.ts'
import { backupText, checkText, contentOf, fill, recordsOf, restoreText } from './backup-samples.ts'
import type { NewPlace } from './place.ts'
import { newAuditEntry } from './portal-samples.ts'
import { optionsOf, prefixedPlaces } from './redis/place.ts'
import { plain } from './samples.ts'
import { newSqlitePlace } from './sqlite/place.ts'

// uses: redis-server

const places: Readonly<Record<string, (t: Test) => Promise<NewPlace>>> = {
  sqlite: async () => newSqlitePlace,
  redis: async (t) => prefixedPlaces(optionsOf(await startRedis(t))),
}

for (const [from, to] of [
  ['sqlite', 'redis'],
  ['redis', 'sqlite'],
] as const) {
  t.test(`what was in ${from} is in ${to}, and back, with the audit log that verifies`, async (t) => {
    const [newSource, newTarget] = [await places[from]?.(t), await places[to]?.(t)]
    if (!newSource || !newTarget) return
    const store = await (await newSource(t)).open()
    const filled = await fill(store)
    const content = plain(await contentOf(store, filled))
    const other = await (await newTarget(t)).open()
    t.strictSame(await restoreText(other, await backupText(store)), { kind: 'restored' })
    t.strictSame(plain(await contentOf(other, filled)), content)
    await other.appendAudit(newAuditEntry())
    await other.appendAudit(newAuditEntry({ action: 'sign-in-failed' }))
    const verified = await verifyAudit(other)
    t.match(verified, { kind: 'intact', unchained: 0 })

    const back = await (await newSource(t)).open()
    await restoreText(back, await backupText(other))
    t.strictSame(await verifyAudit(back), verified, 'its links are of both')
    t.match(await contentOf(back, filled), {
      sessions: [{ generation: 2 }, { generation: 2 }, { end: 'revoked' }],
    })
  })
}

/** A backup as it was written when the format was new: whatever has been released since must restore it. */
const fixture = readFileSync(new URL('fixtures/backup-1.jsonl', import.meta.url), 'utf8')
/** A key of an account in it. */
const fixtureKey = 'gate_sk_fixture_of_format_1'

for (const [driver, newPlaces] of Object.entries(places)) {
  t.test(`a backup of format 1 is restored into ${driver}`, async (t) => {
    const store = await (await (await newPlaces(t))(t)).open()
    t.strictSame(await restoreText(store, fixture), { kind: 'restored' })
    t.match(await verifyAudit(store), { kind: 'intact', entries: 8, unchained: 0 })
    const account = await store.findAccountByEmail('ada@example.com')
    t.ok(account?.secretKeys.some(({ digest }) => Buffer.compare(digest, digestOf(fixtureKey)) === 0))
    t.equal((await store.findAccountByEmail('changed@example.com'))?.lastName, 'Last')
    t.equal(await store.findAccountByEmail('gone@example.com'), undefined)
    // What has a time until which it lasts may be gone by now.
    const lasting: readonly BackupRecord['kind'][] = [
      'account',
      'keyUse',
      'signingKey',
      'blockedSubject',
      'usagePrincipal',
      'audit',
      'auditChain',
    ]
    const restored = (await recordsOf(store)).filter(({ kind }) => lasting.includes(kind))
    const { records } = await checkText(fixture)
    const expected: BackupRecord[] = []
    for await (const batch of records()) expected.push(...batch.filter(({ kind }) => lasting.includes(kind)))
    t.strictSame(sorted(restored), sorted(expected.map(asWrittenNow)))
    const ada = { issuer: 'https://id.example.com', subject: '2482' }
    t.equal((await store.findAccountByIdentity(ada))?.id, account?.id, 'a link of before there were several')
  })
}

/** The current form of an account of format 1, which had one identity at most, and no file that manages it. */
function asWrittenNow(record: BackupRecord): BackupRecord {
  if (record.kind !== 'account') return record
  // The cast is sound: this is what the fixture has.
  const { identity, ...portal } = record.portal as { readonly identity?: object }
  return { ...record, managedBy: null, portal: { ...portal, identities: identity ? [identity] : [] } }
}

function sorted(records: readonly BackupRecord[]): readonly string[] {
  return records.map((record) => JSON.stringify(Object.entries(record).toSorted())).toSorted()
}

function withEnd(lines: readonly string[]): string {
  const text = lines.map((line) => `${line}\n`).join('')
  const sha256 = createHash('sha256').update(text).digest('hex')
  return `${text}${JSON.stringify({ end: true, records: lines.length - 1, sha256 })}\n`
}

t.test(
  'a backup that is damaged, cut, or none is refused with a reason, and nothing is restored',
  async (t) => {
    const store = await (await newSqlitePlace(t)).open()
    const lines = fixture.trimEnd().split('\n')
    const [head = '', ...rest] = lines
    const records = rest.slice(0, -1)
    const end = lines.at(-1) ?? ''
    const join = (...some: readonly string[]) => some.map((line) => `${line}\n`).join('')
    const refused: readonly (readonly [string, RegExp])[] = [
      ['', /is not complete/],
      ['{}\n', /is not a backup of Gatehouse/],
      ['[1]\n', /is not a backup of Gatehouse/],
      ['email\nada@example.com\n', /is not a backup of Gatehouse/],
      [join(head), /is not complete/],
      [fixture.slice(0, -10), /line \d+ is not a record/],
      [join(head, ...records), /is not complete/],
      [join(head, ...records.slice(1), end), /records instead of/],
      [join(head, ...records.toReversed(), end), /its checksum is wrong/],
      [`${fixture}{}\n`, /line \d+ comes after its end/],
      [fixture + fixture, /line \d+ comes after its end/],
      [fixture.replace('"role":"Admin"', '"role":"Owner"'), /its checksum is wrong/],
      [fixture.replace('"User"', '"\u0000ser"'), /damaged: line \d+ is not a record/],
      [
        fixture.replace(`"format":${backupFormat}`, `"format":${backupFormat + 1}`),
        /newer version.*format 2; this version reads up to 1/,
      ],
      [withEnd([head, '{"kind":"toString"}']), /line 2 is not a record/],
      [withEnd([head, 'null']), /line 2 is not a record/],
      [
        withEnd([head, '{"kind":"usagePrincipal","id":1,"day":1}']),
        /line 2 is not a valid usagePrincipal: id is missing or invalid/,
      ],
      ...['null', '1.5', '1e300', '"1"'].map(
        (day) =>
          [
            withEnd([head, `{"kind":"usagePrincipal","id":"a","day":${day}}`]),
            /day is missing or invalid/,
          ] as const,
      ),
      ...['nojson', '[]', '{}', '{"at":"1","action":"signed-in","actor":{},"details":{}}'].map(
        (entry) =>
          [
            withEnd([head, JSON.stringify({ kind: 'audit', class: 'acts', entry, link: '' })]),
            /line 2 is not a valid audit: entry is missing or invalid; nothing was restored/,
          ] as const,
      ),
      [withEnd([head, (records[1] ?? '').replace('"digest"', '"digests"')]), /line 2 is not a valid account/],
      [withEnd([head, records[1] ?? '', records[1] ?? '']), /several accounts with/],
    ]
    for (const [text, reason] of refused) {
      const error = await restoreText(store, text).catch((error: unknown) => error)
      t.match(error, { name: 'OperatorError', message: reason })
      t.strictSame(await store.listAccounts({ after: undefined, limit: 1 }), [])
    }
    t.strictSame(await restoreText(store, fixture), { kind: 'restored' })
  },
)

t.test('any byte of a backup that is changed is noticed', async (t) => {
  const bytes = Buffer.from(fixture)
  for (let index = 0; index < bytes.length; index += 97) {
    const changed = Buffer.from(bytes)
    changed.writeUInt8((bytes[index] ?? 0) ^ 1, index)
    await t.rejects(checkText(changed.toString('latin1')), { name: 'OperatorError' }, `byte ${index}`)
  }
})

t.test('a damaged record makes a backup fail, not its restore', async (t) => {
  const damaged = { kind: 'usagePrincipal', id: 'corp:1', day: Number.NaN } as const
  const store = {
    backUp: async function* () {
      yield [damaged]
    },
    restore: () => Promise.reject(new Error('it is only read')),
  }
  await t.rejects(backupText(store), { name: 'OperatorError', message: /day of a usagePrincipal is missing/ })
})
