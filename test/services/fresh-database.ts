import { randomBytes } from 'node:crypto';
import { Client } from 'pg';

/** An empty database for one test file, and the function that drops it. */
export type FreshDatabase = { readonly url: string; readonly drop: () => Promise<void> };

/**
 * Creates an empty database on the server of `inject('postgresUrl')`, so that test files running in
 * parallel cannot see each other's rows. Call `drop` when the file ends.
 */
export async function createFreshDatabase(postgresUrl: string): Promise<FreshDatabase> {
  const name = `parley_${randomBytes(8).toString('hex')}`;
  await executeStatement(postgresUrl, `create database ${name}`);
  const url = new URL(postgresUrl);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: () => executeStatement(postgresUrl, `drop database if exists ${name} with (force)`),
  };
}

async function executeStatement(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
