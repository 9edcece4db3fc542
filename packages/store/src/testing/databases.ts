import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { openStore } from '../open-store.ts';
import type { Store } from '../store.ts';

/** One kind of database for one test file: each `openEmpty` starts from a copy of one whose tables were just made. */
export interface TestDatabase {
  readonly name: 'SQLite' | 'PostgreSQL';
  /** False where the machine lacks the server: such tests are skipped and the runner says so. */
  readonly available: boolean;
  /** Opens a store without rows or tables from before. */
  openEmpty(): Promise<Store>;
  /** Makes a database without any table; `url` is its address from now on. */
  openBare(): Promise<void>;
  /** The URL of the database that `openEmpty` opened last. */
  url(): string;
  /** Closes what was opened and removes what was made. */
  dispose(): Promise<void>;
}

/** Both kinds, so that one suite can run on each. `postgresUrl` is `inject('postgresUrl')`. */
export function bothDatabases(postgresUrl: string | null): readonly TestDatabase[] {
  return [sqliteForTests(), postgresForTests(postgresUrl)];
}

/** A file in a folder of its own. */
export function sqliteForTests(): TestDatabase {
  const folders: string[] = [];
  const stores: Store[] = [];
  let template: string | undefined;
  const url = () => `sqlite:${join(folders.at(-1) ?? '', 'parley.db')}`;
  return {
    name: 'SQLite',
    available: true,
    url,
    async openBare() {
      folders.push(mkdtempSync(join(tmpdir(), 'parley-store-')));
    },
    async openEmpty() {
      if (template === undefined) {
        await this.openBare();
        template = join(folders.at(-1) ?? '', 'parley.db');
        await (await openStore({ url: url(), clock: () => 0 })).close();
      }
      await this.openBare();
      copyFileSync(template, join(folders.at(-1) ?? '', 'parley.db'));
      const store = await openStore({ url: url(), clock: () => 0 });
      stores.push(store);
      return store;
    },
    async dispose() {
      for (const store of stores) await store.close();
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A database of its own on the given server, made when it is first used. */
function postgresForTests(serverUrl: string | null): TestDatabase {
  const name = `parley_store_${randomBytes(6).toString('hex')}`;
  const stores: Store[] = [];
  const template = `${name}_template`;
  let made = false;
  let madeTemplate = false;
  const url = () => Object.assign(new URL(serverUrl ?? ''), { pathname: `/${name}` }).href;
  return {
    name: 'PostgreSQL',
    available: serverUrl !== null,
    url,
    async openBare() {
      if (!made) await execute(serverUrl ?? '', `create database ${name}`);
      made = true;
      await Promise.all(stores.map((store) => store.close()));
      await execute(url(), 'drop schema public cascade; create schema public');
    },
    async openEmpty() {
      if (!madeTemplate) {
        await this.openBare();
        await (await openStore({ url: url(), clock: () => 0 })).close();
        await execute(serverUrl ?? '', `alter database ${name} rename to ${template}`);
        madeTemplate = true;
        made = false;
      }
      await Promise.all(stores.map((store) => store.close()));
      await execute(
        serverUrl ?? '',
        `drop database if exists ${name} with (force)`,
        `create database ${name} template ${template}`,
      );
      made = true;
      const store = await openStore({ url: url(), clock: () => 0 });
      stores.push(store);
      return store;
    },
    async dispose() {
      await Promise.all(stores.map((store) => store.close()));
      const names = [...(made ? [name] : []), ...(madeTemplate ? [template] : [])];
      const drop = names.map((each) => `drop database ${each} with (force)`);
      if (drop.length > 0) await execute(serverUrl ?? '', ...drop);
    },
  };
}

async function execute(url: string, ...statements: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
