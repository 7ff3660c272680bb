import type { DatabaseSync } from 'node:sqlite'
import { dayMs } from '#platform/time.ts'

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
