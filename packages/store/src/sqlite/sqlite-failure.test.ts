import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { StoreError } from '../database.ts';
import { explainSqliteFailure } from './open-sqlite.ts';

const explain = (thrown: unknown) => explainSqliteFailure('/data/parley.db', thrown);

describe('a failure of SQLite', () => {
  it('is explained when the disk is full, as SQLite itself reports it', () => {
    const sqlite = new DatabaseSync(':memory:');
    sqlite.exec('pragma max_page_count = 3; create table t (x text)');
    const fill = () => sqlite.exec(`insert into t values ('${'x'.repeat(50_000)}')`);
    let thrown: unknown;
    try {
      fill();
    } catch (reason) {
      thrown = reason;
    }
    expect(explain(thrown)).toMatchObject({
      code: 'store-full',
      retryable: false,
      message: expect.stringContaining('/data/parley.db'),
    });
    sqlite.close();
  });

  it.each([
    [5, 'store-busy', true],
    [261, 'store-busy', true],
    [8, 'store-unwritable', false],
    [1032, 'store-unwritable', false],
    [14, 'store-unwritable', false],
    [11, 'store-damaged', false],
    [267, 'store-damaged', false],
    [26, 'store-damaged', false],
    [13, 'store-full', false],
    [10, 'store-failed', false],
    [19, 'store-failed', false],
  ])('with result code %i is %s', (errcode, code, retryable) => {
    const thrown = Object.assign(new Error('sqlite says'), { code: 'ERR_SQLITE_ERROR', errcode });
    expect(explain(thrown)).toMatchObject({ code, retryable, cause: thrown });
  });

  it.each([
    ['EACCES', 'store-unwritable'],
    ['EROFS', 'store-unwritable'],
    ['ENOSPC', 'store-full'],
    ['EIO', 'store-failed'],
  ])('of the file system, %s, is %s', (code, expected) => {
    expect(explain(Object.assign(new Error('fs says'), { code })).code).toBe(expected);
  });

  it('keeps a StoreError, and does not fall over something that is no error', () => {
    const known = new StoreError('store-part-state', 'known');
    expect(explain(known)).toBe(known);
    expect(explain('what?').code).toBe('store-failed');
  });
});
