/** Takes back the steps to a list of secret keys and later, for an empty list of accounts or where their keys do not matter. */
export const withoutSecretKeyList = `
  ALTER TABLE accounts DROP COLUMN managed_by;
  DROP INDEX accounts_by_age;
  CREATE INDEX accounts_by_age ON accounts (created_at, id);
  DROP TRIGGER account_added;
  DROP TRIGGER account_removed;
  DROP TRIGGER IF EXISTS activity_of_usage_insert;
  DROP TRIGGER activity_of_key_uses_insert;
  DROP TRIGGER activity_of_key_uses_update;
  DROP TRIGGER activity_of_portal_sessions_insert;
  DROP TRIGGER activity_of_portal_sessions_update;
  DROP TABLE activity;
  DROP TABLE account_count;
  DROP TABLE event_receivers;
  DROP TABLE audit_once;
  ALTER TABLE accounts DROP COLUMN api_last_four;
  DROP INDEX accounts_active_admins;
  DROP TABLE account_identities;
  DROP TABLE blocked_subjects;
  DROP TABLE usage_principals;
  DROP TABLE imported_keys;
  DROP TABLE quotas;
  ALTER TABLE accounts DROP COLUMN secret_keys;
  ALTER TABLE accounts DROP COLUMN plan;
  ALTER TABLE accounts ADD COLUMN secret_digest BLOB NOT NULL DEFAULT x'01';
  ALTER TABLE accounts ADD COLUMN secret_sealed BLOB;
  ALTER TABLE accounts ADD COLUMN secret_created_at INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE accounts ADD COLUMN previous_digest BLOB;
  ALTER TABLE accounts ADD COLUMN previous_until INTEGER;
  ALTER TABLE sessions DROP COLUMN key_id`
