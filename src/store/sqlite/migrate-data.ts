import type { DatabaseSync } from 'node:sqlite'
import { base64url } from '#platform/text.ts'
import { dayMs } from '#platform/time.ts'
import { termsOf } from '../account-search.ts'
import { auditClasses, auditClassOf, auditLinkOf } from '../audit.ts'
import { parseAuditEntry } from '../audit-entry.ts'

// The steps of schema.ts that convert existing data.

/** An account's secret keys become a list. A merge patch (RFC 7396) leaves out what is null. */
export function listSecretKeys(database: DatabaseSync): void {
  database.function('base64url', { deterministic: true }, (bytes) =>
    bytes instanceof Uint8Array ? base64url(bytes) : null,
  )
  database.exec(`
    ALTER TABLE accounts ADD COLUMN secret_keys TEXT NOT NULL DEFAULT '[]';
    UPDATE accounts SET secret_keys = json_array(json_patch('{}', json_object(
      'digest', base64url(secret_digest), 'sealed', base64url(secret_sealed), 'createdAt', secret_created_at)));
    UPDATE accounts SET secret_keys = json_array(
        json_object('digest', base64url(previous_digest), 'createdAt', 0, 'revokedAt', previous_until),
        json_extract(secret_keys, '$[0]'))
      WHERE previous_digest IS NOT NULL;
    ALTER TABLE accounts DROP COLUMN secret_digest;
    ALTER TABLE accounts DROP COLUMN secret_sealed;
    ALTER TABLE accounts DROP COLUMN secret_created_at;
    ALTER TABLE accounts DROP COLUMN previous_digest;
    ALTER TABLE accounts DROP COLUMN previous_until;
    ALTER TABLE accounts ADD COLUMN plan TEXT;
    ALTER TABLE sessions ADD COLUMN key_id TEXT NOT NULL DEFAULT '';
  `)
}

/** Existing entries are the start of the chains. */
export function chainAudit(database: DatabaseSync): void {
  database.exec(`
    ALTER TABLE audit ADD COLUMN class TEXT NOT NULL DEFAULT '';
    ALTER TABLE audit ADD COLUMN link TEXT NOT NULL DEFAULT '';
    CREATE TABLE audit_chains (
      class TEXT PRIMARY KEY,
      trimmed TEXT NOT NULL,
      last TEXT NOT NULL,
      entries INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID`)
  const update = database.prepare('UPDATE audit SET class = ?, link = ? WHERE seq = ?')
  const select = database.prepare('SELECT seq, entry FROM audit WHERE seq > ? ORDER BY seq LIMIT 1000')
  const save = database.prepare(
    'INSERT INTO audit_chains (class, trimmed, last, entries) VALUES (?, ?, ?, ?)',
  )
  const chains = { acts: { last: '', entries: 0 }, own: { last: '', entries: 0 } }
  for (let rows = select.all(0); rows.length > 0; rows = select.all(Number(rows.at(-1)?.seq))) {
    for (const { seq, entry } of rows) {
      const text = String(entry)
      const name = auditClassOf(parseAuditEntry(text))
      const chain = chains[name]
      chain.last = auditLinkOf(chain.last, text, 'sha256')
      chain.entries++
      update.run(name, chain.last, Number(seq))
    }
  }
  for (const name of auditClasses) save.run(name, '', chains[name].last, chains[name].entries)
  database.exec('CREATE INDEX audit_by_class ON audit (class, seq)')
}

/** Indexes the accounts that were created before the index existed. */
export function indexTerms(database: DatabaseSync): void {
  const insert = database.prepare('INSERT OR IGNORE INTO account_terms (term, account_id) VALUES (?, ?)')
  for (const row of database.prepare('SELECT id, email, first_name, last_name FROM accounts').iterate()) {
    const named = {
      email: String(row.email),
      firstName: String(row.first_name),
      lastName: String(row.last_name),
    }
    for (const term of termsOf(named)) insert.run(term, String(row.id))
  }
}

/** A trigger that notes a use. The ID of a principal of a foreign issuer, which is no account, has a colon. */
function noteActivity(table: string, event: string, day: string): string {
  return `
    CREATE TRIGGER activity_of_${table}_${event.slice(0, 6).toLowerCase()} AFTER ${event} ON ${table} WHEN instr(new.account_id, ':') = 0 BEGIN
      INSERT INTO activity (account_id, day) VALUES (new.account_id, ${day})
        ON CONFLICT DO UPDATE SET day = excluded.day WHERE excluded.day > day;
    END;`
}

/**
 * What lists of accounts need: an index with every column that they filter by, so that the rows, which are large, are
 * read only if they match; the number of accounts; and the last active day of each, noted by triggers wherever a use
 * is stored.
 */
export function listAccounts(database: DatabaseSync): void {
  database.exec(`
    DROP INDEX accounts_by_age;
    CREATE INDEX accounts_by_age ON accounts
      (created_at, id, email_key, first_name, last_name, role, is_disabled, plan);
    CREATE TABLE account_count (accounts INTEGER NOT NULL) STRICT;
    INSERT INTO account_count SELECT count(*) FROM accounts;
    CREATE TABLE activity (account_id TEXT PRIMARY KEY, day INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    INSERT INTO activity SELECT account_id, max(day) FROM (
      SELECT account_id, at / ${dayMs} AS day FROM key_uses
      UNION ALL SELECT account_id, day FROM usage WHERE instr(account_id, ':') = 0
      UNION ALL SELECT account_id, seen_at / ${dayMs} FROM portal_sessions) GROUP BY account_id;
    CREATE TRIGGER account_added AFTER INSERT ON accounts BEGIN
      UPDATE account_count SET accounts = accounts + 1;
    END;
    CREATE TRIGGER account_removed AFTER DELETE ON accounts BEGIN
      UPDATE account_count SET accounts = accounts - 1;
      DELETE FROM activity WHERE account_id = old.id;
    END;
    ${noteActivity('usage', 'INSERT', 'new.day')}
    ${noteActivity('key_uses', 'INSERT', `new.at / ${dayMs}`)}
    ${noteActivity('key_uses', 'UPDATE OF at', `new.at / ${dayMs}`)}
    ${noteActivity('portal_sessions', 'INSERT', `new.seen_at / ${dayMs}`)}
    ${noteActivity('portal_sessions', 'UPDATE OF seen_at', `new.seen_at / ${dayMs}`)}
  `)
}
