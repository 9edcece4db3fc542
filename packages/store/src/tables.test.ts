import { createHash } from 'node:crypto';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { type Database, defineDynamicStatement, parseStoreUrl } from './database.ts';
import { MIGRATIONS } from './migrate.ts';
import { openPostgres } from './postgres/open-postgres.ts';
import { openSqlite } from './sqlite/open-sqlite.ts';
import type { Column, Table } from './tables/table.ts';
import { listReferencesTo, TABLE_LIST, TABLES_IN_BACKUP, type TableName } from './tables.ts';
import { listBothDatabases } from './testing/databases.ts';

/**
 * Hashes of each released migration's statements. Never edit a released migration; add another one
 * instead.
 */
const RELEASED: Readonly<Record<number, { readonly sqlite: string; readonly postgres: string }>> = {
  31: {
    sqlite: 'ea71cc0d79673e3cc5c536b9c744176d3fd084e55073adfb3ba07bdcb730fc36',
    postgres: '720cbe7fb2968fe6b81c33eab25e48fa03d871e98e34957ccfa4c5bba9e9e114',
  },
  32: {
    sqlite: '085dea7be05bba71994661ab910054b4df25f46dd35f64b460fc64e866feaefe',
    postgres: '9542c8ae21538f0f9273a6a5949d28c14a84aef06a5ce9425af811d494b4b2fa',
  },
  33: {
    sqlite: '6b1ce2bdfb614c02bce6ebfcc28d667038a55b3a7ecf8419e14d6b1ad3b305e3',
    postgres: '6b1ce2bdfb614c02bce6ebfcc28d667038a55b3a7ecf8419e14d6b1ad3b305e3',
  },
  34: {
    sqlite: 'd45de05ff1c5f48178ffb7d17daac2e97f593fecf715887c8328579dbe0389a9',
    postgres: 'a754c6939e4623477eaeef99f7c37c0c99788f70696760bedb3275bebf00bea8',
  },
  35: {
    sqlite: '460e53e17705fd31a930340f4a145d388f83dcde5543e2785c37196aa3bf5b60',
    postgres: '460e53e17705fd31a930340f4a145d388f83dcde5543e2785c37196aa3bf5b60',
  },
  36: {
    sqlite: 'a203026f4d67ec1be8b9080498ff80f14f2bd989ddc1d6cb22bffa296b3f31a8',
    postgres: 'd628171b040ec608aba2a728d46321d0a1096d8db53169109a998863d2df040c',
  },
  37: {
    sqlite: '234834c24cec4c08602d14db224161046226e8bb65c3be2b2846c0d89b49e3cb',
    postgres: '234834c24cec4c08602d14db224161046226e8bb65c3be2b2846c0d89b49e3cb',
  },
  38: {
    sqlite: '50a09574cec23991fcc5733f140065a2493c3237c4e3b9688352a05bf6d6b0bb',
    postgres: '93a29e0736a2fe46110df433097554c8638ce9e73286da4a67a253cd75de3ee2',
  },
  39: {
    sqlite: '44d3918474b1bb59cf03d6482883d2a8adeacac1712b9281bae2b26476b4e87c',
    postgres: '8e809ed9fc3167d690a497fc0a4548b4f866f0a08670a3a30945633996b9cdd3',
  },
  40: {
    sqlite: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    postgres: 'd242aa6ed0ec64942a8dbd0059ea21a9b45e0e417568a57067fa37431fada2af',
  },
  41: {
    sqlite: 'ce218a3bd947ac10c45b69375e746f36d1a9a39ebba4581e6a1f12e55d067e03',
    postgres: 'ce218a3bd947ac10c45b69375e746f36d1a9a39ebba4581e6a1f12e55d067e03',
  },
};

/**
 * An older process keeps running for a few seconds on a database that a newer process has migrated.
 * That process must still be able to store messages and answers during that time.
 */
const NEEDED_BY_OLDER: readonly TableName[] = [
  ...(['parley_migration', 'process', 'lease', 'store_state', 'conversation'] as const),
  ...(['inbox', 'attachment', 'turn', 'turn_step', 'transcript', 'outbox'] as const),
];

const COLUMNS = {
  sqlite: defineDynamicStatement(`select m.name || '.' || p.name as name, lower(p.type) as type
    from sqlite_schema as m, pragma_table_info(m.name) as p
    where m.type = 'table' and m.name not like 'sqlite_%' and m.name not like 'search_entry%'`),
  postgres:
    defineDynamicStatement(`select table_name || '.' || column_name as name, data_type as type
    from information_schema.columns
    where table_schema = current_schema() and table_name <> 'search_entry'`),
};

const hasWords = ({ columns }: Table) =>
  Object.values(columns).some(({ words }) => words !== undefined);

describe('the registry of tables', () => {
  for (const database of listBothDatabases(inject('postgresUrl'))) {
    describe.runIf(database.available)(`on ${database.name}`, () => {
      afterAll(() => database.dispose());

      it('[D15] [G15] describes every table and column, so that no text is overlooked', async () => {
        await (await database.openEmpty()).close();
        const address = parseStoreUrl(database.url());
        const { dialect } = address;
        const raw: Database =
          address.dialect === 'sqlite' ? openSqlite(address) : await openPostgres(address);
        const found = await raw.read((sql) =>
          sql.all(COLUMNS[dialect].rows<{ readonly name: string; readonly type: string }>()),
        );
        await raw.close();
        const described = TABLE_LIST.flatMap(([table, { columns }]) =>
          Object.entries(columns).map(([column, { sql }]) => ({
            name: `${table}.${column}`,
            type: typeIn(dialect, sql),
          })),
        );
        expect(found.toSorted(byName)).toEqual(described.toSorted(byName));
      });
    });
  }

  it('[G15] defines for each table with human text how /forget treats it', () => {
    const silent = TABLE_LIST.filter(([, table]) => hasWords(table) && table.forget === undefined);
    expect(silent.map(([name]) => name)).toEqual([]);
  });

  it('[D15] lists a table before the tables that refer to it', () => {
    const names: readonly string[] = TABLE_LIST.map(([name]) => name);
    const wrong = TABLE_LIST.flatMap(([parent]) =>
      listReferencesTo(parent).filter(({ table }) => names.indexOf(table) < names.indexOf(parent)),
    );
    expect(wrong).toEqual([]);
    expect(listReferencesTo('turn').length).toBeGreaterThan(5);
  });

  it('[D01] leaves only processes, sign-ins and indexes out of a backup', () => {
    const left = TABLE_LIST.filter(([name]) => !TABLES_IN_BACKUP.includes(name));
    expect(left.map(([name]) => name).toSorted()).toEqual([
      ...['lease', 'page_session', 'parley_migration', 'process', 'retention_run'],
      ...['search_entry', 'search_index_progress', 'sign_in', 'store_state'],
    ]);
  });

  it('[D09] [D18] does not rename anything that an older process needs to store its work and shut down', () => {
    const renamed = TABLE_LIST.filter(
      ([, { formerly, columns }]) =>
        formerly !== undefined ||
        Object.values<Column>(columns).some((column) => column.formerly !== undefined),
    ).map(([name]) => name);
    expect(renamed.filter((name) => NEEDED_BY_OLDER.includes(name))).toEqual([]);
    expect(renamed).toContain('ingress_decision');
  });

  it.each(MIGRATIONS)(
    '[D18] does not change the released migration $number',
    ({ number, statements }) => {
      const digest = (dialect: Database['dialect']) =>
        createHash('sha256')
          .update(statements(dialect).join(';').replaceAll(/\s+/g, ' '))
          .digest('hex');
      expect({ sqlite: digest('sqlite'), postgres: digest('postgres') }).toEqual(RELEASED[number]);
    },
  );
});

function typeIn(dialect: Database['dialect'], sql: string): string {
  const type = /^(bigserial|bigint|text|bytea|double precision)/.exec(sql)?.[1] ?? sql;
  if (type === 'bigserial') return dialect === 'sqlite' ? 'integer' : 'bigint';
  return dialect === 'sqlite' && type === 'bytea' ? 'blob' : type;
}

const byName = (a: { readonly name: string }, b: { readonly name: string }) =>
  a.name < b.name ? -1 : 1;
