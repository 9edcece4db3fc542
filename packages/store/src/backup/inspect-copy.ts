import { DatabaseSync } from 'node:sqlite';
import { InboundMessage } from '@parley/core';
import { quoteIdentifier } from './rows.ts';

/** The size of a table: its rows and its columns. */
export interface TableSize {
  readonly rows: number;
  readonly columns: number;
}

/**
 * Measures every table of a SQLite file that no process uses, whatever its schema, so that the state
 * before and after a migration can be compared. The tables of the search index are left out.
 */
export function measureTables(path: string): Readonly<Record<string, TableSize>> {
  const sqlite = new DatabaseSync(path, { readOnly: true });
  try {
    const names = sqlite
      .prepare("select name from sqlite_schema where type = 'table' and sql not like '%virtual%'")
      .all()
      .map(({ name }) => String(name))
      .filter((name) => !/^(sqlite_|search_)/.test(name));
    const sizes = names.map((name) => {
      const columns = sqlite.prepare('select count(*) as n from pragma_table_info(?)').get(name);
      const rows = sqlite.prepare(`select count(*) as n from ${quoteIdentifier(name)}`).get();
      return [name, { rows: Number(rows?.n), columns: Number(columns?.n) }] as const;
    });
    return Object.fromEntries(sizes);
  } finally {
    sqlite.close();
  }
}

/**
 * Reads the newest messages that people wrote since a time (ms), oldest first. Work that Parley
 * starts itself is left out. The file must have the schema of this version.
 */
export function readRecentMessages(
  path: string,
  since: number,
  limit: number,
): readonly InboundMessage[] {
  const sqlite = new DatabaseSync(path, { readOnly: true });
  try {
    return sqlite
      .prepare(RECENT)
      .all({ since, limit })
      .flatMap(({ message }) => {
        const parsed = InboundMessage.safeParse(JSON.parse(String(message)));
        return parsed.success && parsed.data.trigger === undefined ? [parsed.data] : [];
      })
      .toReversed();
  } finally {
    sqlite.close();
  }
}

const RECENT = `select message from inbox where received_at >= :since
  and conversation_id not like 'beat:%' and conversation_id not like 'sub:%'
  order by seq desc limit :limit`;
