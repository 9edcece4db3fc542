import { composed, type Database } from '../database.ts';

const OF_SQLITE = composed(`select type, name, sql from sqlite_master
  where name not like 'sqlite_%' order by type, name`).rows<object>();

const OF_POSTGRES = composed(`select 'column' as type, table_name || '.' || column_name as name,
    concat_ws(' ', data_type, is_nullable, column_default) as sql
  from information_schema.columns where table_schema = current_schema()
  union all select 'index', indexname, indexdef from pg_indexes where schemaname = current_schema()
  union all select 'constraint', cast(cast(conrelid as regclass) as text) || '.' || conname, pg_get_constraintdef(oid)
  from pg_constraint where connamespace = cast(current_schema() as regnamespace)
  order by 1, 2, 3`).rows<object>();

/** Tables, columns, indexes and constraints of a database, to be compared. */
export async function schemaOf(database: Database): Promise<readonly object[]> {
  const query = database.dialect === 'sqlite' ? OF_SQLITE : OF_POSTGRES;
  return database.read((sql) => sql.all(query));
}
