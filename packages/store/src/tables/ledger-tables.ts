/** What models were used for; `group_id` is empty for direct chats. */
export interface SpendTable {
  day: string;
  person_id: string;
  group_id: string;
  input_tokens: number;
  output_tokens: number;
  /** US dollars, as far as prices are known. */
  cost_usd: number;
}

/** Which migrations a database has seen, and by which Parley. */
export interface MigrationTable {
  number: number;
  name: string;
  parley_version: string;
  applied_at: number;
}

/** Accounts of the database itself: spend and migrations. */
export interface LedgerTables {
  spend: SpendTable;
  parley_migration: MigrationTable;
}
