import { addedBy, data, defineTable, int, words } from './table.ts';

/** Tables for the installation: its database, processes and channels. */
export const INSTALLATION_TABLES = {
  /** The migrations applied to a database. */
  parley_migration: defineTable({
    columns: {
      number: int('not null primary key'),
      name: data('not null'),
      parley_version: data('not null'),
      applied_at: int('not null'),
    },
    since: 'apart',
    kept: 'one row per migration',
    notInBackup: 'They belong to the restored database, which is migrated during the restore.',
  }),
  /**
   * Identifies the database and records how far it has advanced and how often it was found to have
   * been rolled back; one row.
   */
  store_state: defineTable({
    columns: {
      id: int('not null primary key'),
      name: data('not null'),
      counter: int('not null'),
      setbacks: int('not null'),
      setback_at: int(),
      setback_turns: int(),
      setback_parts: int(),
    },
    since: 33,
    kept: 'one row',
    notInBackup: 'It identifies this database; a restored database gets a new identity.',
  }),
  /** The result of the last retention round (D15); one row. */
  retention_run: defineTable({
    columns: {
      id: int('not null primary key'),
      ended_at: int('not null'),
      took_ms: int('not null'),
      removed: int('not null'),
      cutoff: int(),
      counted_to: addedBy(33, int('not null default 0')),
    },
    later: { 33: ['update retention_run set counted_to = ended_at'] },
    kept: 'one row',
    notInBackup: 'It is short-lived.',
  }),
  /** The search index: FTS5 with different columns on SQLite, `tsvector` on PostgreSQL. */
  search_entry: defineTable({
    columns: {},
    since: 'apart',
    later: {
      31: (dialect) =>
        dialect === 'sqlite'
          ? [
              // The index is contentless: it does not contain the indexed text. The text is already
              // split into words, so the `ascii` tokenizer only splits at spaces.
              `create virtual table search_entry using fts5(
            words, content = '', contentless_delete = 1, tokenize = 'ascii')`,
            ]
          : [
              'create table search_entry (id bigint not null primary key, words tsvector not null)',
              'create index search_entry_words on search_entry using gin (words)',
            ],
    },
    kept: 'search index for messages and answers, kept as long as the indexed rows',
    notInBackup: 'It is rebuilt from the messages.',
  }),
  /** How many messages and answers have been indexed. */
  search_index_progress: defineTable({
    formerly: { name: 'search_reach', until: 38 },
    columns: {
      source: data('not null primary key'),
      seq: int('not null'),
    },
    kept: 'two rows',
    notInBackup: 'It is rebuilt from the messages.',
  }),
  /**
   * The leases in a deployment with several processes. A free lease does not have an owner; its row
   * is kept because of its epoch.
   */
  lease: defineTable({
    columns: {
      name: data('not null primary key'),
      epoch: int('not null'),
      owner: data(),
      lease_until: int(),
    },
    kept: 'one row per lease',
    notInBackup: 'It is short-lived.',
  }),
  process: defineTable({
    columns: {
      id: data('not null primary key'),
      role: data('not null'),
      host: data('not null'),
      pid: int('not null'),
      address: data('not null'),
      version: data('not null'),
      started_at: int('not null'),
      seen_at: int('not null'),
      facts: data(),
    },
    kept: 'one day after the process was last seen',
    notInBackup: 'It is short-lived.',
  }),
  /** The values that adapters keep between starts, such as WhatsApp's session keys. */
  adapter_state: defineTable({
    formerly: { name: 'adapter_value', until: 38 },
    columns: {
      channel: data('not null'),
      account: data('not null'),
      kind: data('not null'),
      id: data('not null'),
      value: words('not null'),
    },
    key: ['channel', 'account', 'kind', 'id'],
    kept: 'for as long as each channel requires',
    forget: 'apart',
  }),
  account_pause: defineTable({
    columns: {
      channel: data('not null'),
      account: data('not null'),
      paused_by: data('not null'),
      since: int('not null'),
    },
    key: ['channel', 'account'],
    kept: 'paused accounts',
  }),
};
