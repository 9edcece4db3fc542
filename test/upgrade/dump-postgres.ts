import { Client } from 'pg';
import { formatInsert, type SqlCell } from './sql-text.ts';

const TABLES = `select relname as name from pg_class
  where relnamespace = 'public'::regnamespace and relkind = 'r' order by oid`;

const COLUMNS = `select attname as name, format_type(atttypid, atttypmod) as type, attnotnull as required,
    pg_get_expr(adbin, adrelid) as preset
  from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
  where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attnum`;

const CONSTRAINTS = `select conname as name, contype as type, pg_get_constraintdef(oid) as text from pg_constraint
  where conrelid = $1::regclass and contype in ('p', 'u', 'f') order by contype desc, conname`;

/** Indexes other than those created by a constraint. */
const INDEXES = `select indexdef as text from pg_indexes
  where schemaname = 'public' and tablename = $1
    and indexname not in (select conname from pg_constraint where conrelid = $2::regclass) order by indexname`;

type DatabaseRow = Readonly<Record<string, unknown>>;
type RunQuery = (sql: string, values?: readonly string[]) => Promise<readonly DatabaseRow[]>;

/**
 * A whole PostgreSQL database as SQL, including its schema: rows come before the keys that refer to
 * other rows.
 */
export async function dumpPostgres(url: string): Promise<string> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const ask: RunQuery = async (sql, values = []) =>
    (await client.query<DatabaseRow>(sql, [...values])).rows;
  try {
    const tables = (await ask(TABLES)).map(({ name }) => String(name));
    const all = [];
    for (const table of tables) all.push(await dumpTable(ask, table));
    return [
      'begin;',
      ...all.map(({ made }) => made),
      ...all.flatMap(({ rows }) => rows),
      ...all.flatMap(({ after }) => after),
      'commit;\n',
    ].join('\n');
  } finally {
    await client.end();
  }
}

async function dumpTable(ask: RunQuery, table: string) {
  const columns = await ask(COLUMNS, [table]);
  const constraints = (await ask(CONSTRAINTS, [table])).map(({ name, type, text }) => ({
    isForeign: type === 'f',
    text: `constraint ${String(name)} ${String(text)}`,
  }));
  const own = constraints.filter(({ isForeign }) => !isForeign).map(({ text }) => text);
  const foreign = constraints.filter(({ isForeign }) => isForeign);
  const lines = [...columns.map(formatColumn), ...own].map((line) => `  ${line}`);
  const rows = await ask(
    `select ${columns.map(formatValue).join(', ')} from ${table} order by 1, 2`,
  );
  const numbers = columns.filter(isNumbered).map(({ name }) => String(name));
  const counters = [];
  for (const name of numbers) counters.push(await formatCounter(ask, table, name));
  const indexes = (await ask(INDEXES, [table, table])).map(({ text }) => `${String(text)};`);
  return {
    made: `create table ${table} (\n${lines.join(',\n')}\n);`,
    rows: rows.map((row) =>
      formatInsert(table, row as Readonly<Record<string, SqlCell>>, bytesText),
    ),
    after: [
      ...counters,
      ...indexes,
      ...foreign.map(({ text }) => `alter table ${table} add ${text};`),
    ],
  };
}

/** Whether the column is an auto-incrementing id. */
const isNumbered = ({ preset }: DatabaseRow): boolean =>
  String(preset ?? '').startsWith('nextval(');

function formatColumn(column: DatabaseRow): string {
  const { name, type, required, preset } = column;
  if (isNumbered(column)) return `${String(name)} bigserial`;
  const optional = required === true ? ' not null' : '';
  return `${String(name)} ${String(type)}${optional}${preset === null ? '' : ` default ${String(preset)}`}`;
}

/** Search vectors have their own type. */
function formatValue({ name, type }: DatabaseRow): string {
  return type === 'tsvector' ? `${String(name)}::text as ${String(name)}` : String(name);
}

async function formatCounter(ask: RunQuery, table: string, column: string): Promise<string> {
  const sequence = `${table}_${column}_seq`;
  const [row] = await ask(`select last_value, is_called from ${sequence}`);
  return `select setval('${sequence}', ${String(row?.last_value)}, ${String(row?.is_called)});`;
}

const bytesText = (bytes: Uint8Array): string => `'\\x${Buffer.from(bytes).toString('hex')}'`;
