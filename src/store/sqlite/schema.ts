import type { DatabaseSync } from 'node:sqlite'
import { chainAudit, indexTerms, listAccounts, listSecretKeys } from './migrate-data.ts'

/**
 * STRICT: a value of the wrong type is an error, not a guess. Times are milliseconds since 1970. `lives_until` is when
 * a session ends if it is not refreshed; rows stay a day longer, so that an expired token can be told from an unknown
 * one.
 */
const accountsAndSessions = `
  CREATE TABLE accounts (
    id TEXT PRIMARY KEY,
    email TEXT NOT NULL,
    email_key TEXT NOT NULL UNIQUE,
    first_name TEXT NOT NULL,
    last_name TEXT NOT NULL,
    role TEXT NOT NULL,
    is_verified INTEGER NOT NULL,
    is_disabled INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    session_epoch INTEGER NOT NULL,
    secret_digest BLOB NOT NULL,
    secret_sealed BLOB,
    secret_created_at INTEGER NOT NULL,
    previous_digest BLOB,
    previous_until INTEGER,
    api_digest BLOB NOT NULL,
    api_sealed BLOB,
    api_created_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    lives_until INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    rotated_at INTEGER NOT NULL,
    session_epoch INTEGER NOT NULL,
    end_reason TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX sessions_by_account ON sessions (account_id);
  CREATE INDEX sessions_by_end ON sessions (lives_until);
  CREATE TABLE signing_keys (
    kid TEXT PRIMARY KEY,
    algorithm TEXT NOT NULL,
    sealed BLOB NOT NULL,
    public_key TEXT,
    created_at INTEGER NOT NULL,
    signs_from INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE changes (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    at INTEGER NOT NULL
  ) STRICT;
`

/** Uses are found by the digest of the key, so that a reset need not move them. */
const portalAndAudit = `
  ALTER TABLE accounts ADD COLUMN portal TEXT NOT NULL DEFAULT '{"epoch":1}';
  ALTER TABLE sessions ADD COLUMN address TEXT NOT NULL DEFAULT '';
  ALTER TABLE sessions ADD COLUMN client TEXT NOT NULL DEFAULT '';
  CREATE TABLE portal_sessions (
    account_id TEXT NOT NULL,
    id TEXT NOT NULL,
    digest TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    address TEXT NOT NULL,
    client TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE key_uses (
    account_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    at INTEGER NOT NULL,
    address TEXT NOT NULL,
    scheme TEXT NOT NULL,
    PRIMARY KEY (account_id, digest)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE account_terms (
    term TEXT NOT NULL,
    account_id TEXT NOT NULL,
    PRIMARY KEY (term, account_id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE audit (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    entry TEXT NOT NULL
  ) STRICT;
`

/** Days are numbers of days since 1970. Batches are remembered so that a repeated one is not added again. */
const usage = `
  CREATE TABLE usage (
    account_id TEXT NOT NULL,
    day INTEGER NOT NULL,
    key TEXT NOT NULL,
    route TEXT NOT NULL,
    requests INTEGER NOT NULL,
    units INTEGER NOT NULL,
    PRIMARY KEY (account_id, day, key, route)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE usage_batches (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE
  ) STRICT;
`

/** What is granted of each quota in its window (`period`), and what each process last got, by its ID, as JSON. */
const quotas = `
  CREATE TABLE quotas (
    account_id TEXT NOT NULL,
    period TEXT NOT NULL,
    kept_until INTEGER NOT NULL,
    granted INTEGER NOT NULL,
    held TEXT NOT NULL,
    PRIMARY KEY (account_id, period)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX quotas_by_end ON quotas (kept_until);
`

/**
 * The steps from each version to the next; user_version counts the steps that a database has gone through. Append only.
 */
export const migrations: readonly ((database: DatabaseSync) => void)[] = [
  (database) => database.exec(accountsAndSessions),
  (database) => {
    database.exec(portalAndAudit)
    indexTerms(database)
  },
  (database) => {
    // Indexes the parts of e-mails too.
    indexTerms(database)
    database.exec('CREATE INDEX accounts_by_age ON accounts (created_at, id)')
  },
  // An account's current role counts as that of its first epoch.
  (database) => database.exec('ALTER TABLE accounts ADD COLUMN role_epoch INTEGER NOT NULL DEFAULT 1'),
  // Pages of the open sessions of an account, and which of them are the oldest.
  (database) =>
    database.exec(`
      CREATE INDEX sessions_open ON sessions (account_id, session_epoch, created_at DESC, id)
        WHERE end_reason IS NULL`),
  // One row: the ID of this store.
  (database) =>
    database.exec(`
      CREATE TABLE store (id TEXT NOT NULL, probed_at INTEGER NOT NULL) STRICT;
      INSERT INTO store (id, probed_at) VALUES (lower(hex(randomblob(16))), 0);
    `),
  chainAudit,
  // The current tokens of sessions from before count as delivered when they were created.
  (database) =>
    database.exec(`
      ALTER TABLE sessions ADD COLUMN acknowledged_at INTEGER;
      UPDATE sessions SET acknowledged_at = rotated_at;
    `),
  // Pages of open sessions without reading their rows: of 100,000 sessions, that took 70 ms at each sign-in.
  (database) =>
    database.exec(`
      DROP INDEX sessions_open;
      CREATE INDEX sessions_open ON sessions
        (account_id, session_epoch, end_reason, created_at DESC, id, lives_until);
    `),
  (database) => database.exec(usage),
  listSecretKeys,
  // Imported keys do not contain the ID of their account.
  (database) =>
    database.exec(
      'CREATE TABLE imported_keys (digest BLOB PRIMARY KEY, account_id TEXT NOT NULL) STRICT, WITHOUT ROWID',
    ),
  (database) => database.exec(quotas),
  // By the ID of the principal; pages of the list begin with the newest.
  (database) =>
    database.exec(`
      CREATE TABLE blocked_subjects (
        principal_id TEXT PRIMARY KEY,
        blocked_at INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX blocked_subjects_by_time ON blocked_subjects (blocked_at, principal_id);
    `),
  // Foreign principals whose usage is counted, with the day of their last use.
  (database) =>
    database.exec(`
      CREATE TABLE usage_principals (id TEXT PRIMARY KEY, day INTEGER NOT NULL) STRICT, WITHOUT ROWID;
      CREATE INDEX usage_principals_by_day ON usage_principals (day);
    `),
  // The owner's identity at an OpenID provider.
  (database) =>
    database.exec(`
      ALTER TABLE accounts ADD COLUMN identity_key TEXT;
      CREATE UNIQUE INDEX accounts_by_identity ON accounts (identity_key) WHERE identity_key IS NOT NULL;
    `),
  // Whether another Admin is left is looked up within the step that takes one away.
  (database) =>
    database.exec(
      "CREATE INDEX accounts_active_admins ON accounts (id) WHERE role = 'Admin' AND is_disabled = 0",
    ),
  // The last four characters of secret keys are in `secret_keys`.
  (database) => database.exec('ALTER TABLE accounts ADD COLUMN api_last_four TEXT'),
  // What receivers of events have got, and what was told once.
  (database) =>
    database.exec(`
      CREATE TABLE event_receivers (id TEXT PRIMARY KEY, state TEXT NOT NULL) STRICT, WITHOUT ROWID;
      CREATE TABLE audit_once (id TEXT PRIMARY KEY, kept_until INTEGER NOT NULL) STRICT, WITHOUT ROWID;
      CREATE INDEX audit_once_by_end ON audit_once (kept_until);
    `),
  listAccounts,
  // An account may have an owner at each of several OpenID providers.
  (database) =>
    database.exec(`
      CREATE TABLE account_identities (key TEXT PRIMARY KEY, account_id TEXT NOT NULL) STRICT, WITHOUT ROWID;
      INSERT INTO account_identities SELECT identity_key, id FROM accounts WHERE identity_key IS NOT NULL;
      DROP INDEX accounts_by_identity;
      ALTER TABLE accounts DROP COLUMN identity_key;
    `),
  // The name of the file that lists an account.
  (database) => database.exec('ALTER TABLE accounts ADD COLUMN managed_by TEXT'),
]
