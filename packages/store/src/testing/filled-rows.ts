import { type Database, defineDynamicStatement } from '../database.ts';
import type { Column } from '../tables/table.ts';
import { TABLES, TABLES_IN_BACKUP, type TableName } from '../tables.ts';

type FixtureValue = string | number | Uint8Array | null;
type FixtureRow = Readonly<Record<string, FixtureValue>>;

const CHAT = { channel: 'telegram', account: 'default', chat_id: '-7' };
const TEXT = 'O\'Hara said "no"\nand\tleft: Grüße, 你好 🦜';

const message = (message_id: string, conversation_id: string, state: string, turn_id?: string) => ({
  ...CHAT,
  ...{ message_id, conversation_id, state, turn_id: turn_id ?? null },
});

/** Values on which tests depend; other tables and columns get arbitrary values. */
const GIVEN: Readonly<Partial<Record<TableName, readonly FixtureRow[]>>> = {
  conversation: ['c1', 'c2'].map((id) => ({
    ...{ id, epoch: 7, session: 2, lease_owner: 'worker-1', lease_until: 900 },
  })),
  cron_job: [1, 2_000_000_000_000].map((next_at) => ({
    ...{ id: `j${next_at}`, request_key: `a${next_at}`, state: 'on', next_at },
    timetable: `{"kind":"once","at":${next_at}}`,
  })),
  soul_version: [{ number: 0, state: 'applied' }],
  memory_entry: [{ words: 'tea' }],
  turn: [
    { id: 't1', session: 2, state: 'answered', cost_usd: 0.000_125 },
    {
      ...{ id: 't2', conversation_id: 'c2', session: 2, state: 'running' },
      started_at: 1_763_700_000_001,
    },
  ],
  turn_step: [{ turn_id: 't2' }],
  approval: [{ conversation_id: 'c2', turn_id: 't2', state: 'pending' }],
  sub_agent: [{ conversation_id: 'c2', state: 'running' }],
  heartbeat_run: ['running', 'held'].map((state) => ({
    ...{ id: `b-${state}`, state, held_until: state === 'held' ? 30 : null },
  })),
  outbox: ['sent', 'pending', 'sending', 'failed', 'sent'].map((state, index) => ({
    ...{ id: `p${index}`, idempotency_key: `k${index}`, turn_id: 't1', part_index: index, state },
    notice_of: index === 4 ? 'p3' : null,
  })),
  inbox: [
    message('m1', 'c1', 'done', 't1'),
    message('m2', 'c2', 'claimed', 't2'),
    message('m3', 'c2', 'waiting'),
  ],
  attachment: [{ state: 'ready', bytes: Uint8Array.of(0, 255, 10, 92) }],
  group_context: [{ turn_id: 't2' }],
  dead_letter: [{ kind: 'refused', subject: 'p3' }],
  adapter_state: [{ channel: 'whatsapp', account: 'default', kind: 'creds', id: 'creds' }],
};

/** On SQLite, the bytes of files are stored beside the database. */
const FILLED = TABLES_IN_BACKUP.filter((table) => table !== 'file_piece');

/** At least one row for each table in a backup, in an order that foreign keys allow. */
const ROWS = FILLED.flatMap((table) =>
  (GIVEN[table] ?? [{}]).map((given) => ({ table, row: createFixtureRow(table, given) })),
);

function createFixtureRow(table: TableName, given: FixtureRow): FixtureRow {
  const filled = Object.entries<Column>(TABLES[table].columns).flatMap(([name, column]) => {
    const value = given[name] ?? createRequiredValue(column);
    return value === null ? [] : [[name, value] as const];
  });
  return Object.fromEntries(filled);
}

/** Creates a value for a column that requires one, and returns null for other columns. */
function createRequiredValue({ sql, words }: Column): FixtureValue {
  if (!sql.includes('not null') || sql.includes('default')) return null;
  if (sql.includes('references')) return createReferredValue(sql);
  if (words === 'json') return JSON.stringify({ text: TEXT });
  if (words === 'plain') return TEXT;
  return sql.startsWith('text') ? '{}' : 1;
}

/** Creates a reference to the first row of another table. */
function createReferredValue(sql: string): FixtureValue {
  if (sql.includes('references conversation')) return 'c1';
  return sql.includes('references turn') ? 't1' : sql.includes('references soul') ? '{}' : 1;
}

export async function fillTables(database: Database): Promise<void> {
  await database.write(async (sql) => {
    for (const { table, row } of ROWS) {
      const names = Object.keys(row);
      const values = names.map((name) => `:${name}`);
      const insert = `insert into ${table} (${names.join(', ')}) values (${values.join(', ')})`;
      await sql.run(defineDynamicStatement(insert), row);
    }
  });
}

/** Reads all rows of the tables that `fillTables` fills, by table. */
export async function readFixtureRows(
  database: Database,
): Promise<Readonly<Record<string, readonly string[]>>> {
  const found: Record<string, readonly string[]> = {};
  for (const table of FILLED) {
    const columns = Object.keys(TABLES[table].columns).join(', ');
    const query = defineDynamicStatement(`select ${columns} from ${table}`).rows<object>();
    const rows = await database.read((sql) => sql.all(query));
    found[table] = rows.map((values) => JSON.stringify(values, normalizeBytes)).toSorted();
  }
  return found;
}

/**
 * The two databases return bytes as different classes, one of which serializes to `{ type, data }`.
 */
function normalizeBytes(_key: string, value: unknown): unknown {
  if (value instanceof Uint8Array) return [...value];
  return typeof value === 'object' && value !== null && 'data' in value ? value.data : value;
}
