import { describe, expect, it } from 'vitest';
import type { Durability, Sql } from '../database.ts';
import { GroupCommit, type TransactionControl } from './group-commit.ts';

/** A placeholder for a connection; the group only passes it on. */
const SQL = {} as Sql;

function recorded(failing: { readonly statement?: string; readonly losesAll?: boolean } = {}) {
  const log: string[] = [];
  let inTransaction = false;
  const control: TransactionControl = {
    run(statement) {
      log.push(statement);
      if (statement === failing.statement) throw new Error(`${statement} failed`);
      if (statement === 'begin immediate') inTransaction = true;
      if (statement === 'commit' || statement === 'rollback') inTransaction = false;
    },
    survive: (durability) => log.push(`survive ${durability}`),
    inTransaction: () => inTransaction,
  };
  const group = new GroupCommit((use) => use(SQL), control);
  const work = (
    name: string,
    outcome: 'works' | 'fails' = 'works',
    durability: Durability = 'power-cut',
  ) =>
    group
      .transact(async () => {
        log.push(`work ${name}`);
        if (outcome === 'works') return name;
        if (failing.losesAll) inTransaction = false;
        throw new Error(`${name} failed`);
      }, durability)
      .then((value) => log.push(`told ${value}`));
  return { log, work, group };
}

describe('group commit', () => {
  it('[D01] shares one commit among simultaneous transactions, and resolves them only after it', async () => {
    const { log, work } = recorded();
    await Promise.all([work('a'), work('b')]);
    expect(log).toEqual([
      'survive power-cut',
      'begin immediate',
      'savepoint one',
      'work a',
      'release one',
      'savepoint one',
      'work b',
      'release one',
      'commit',
      'told a',
      'told b',
    ]);
  });

  it('rolls back only the transaction that fails', async () => {
    const { log, work } = recorded();
    const results = await Promise.allSettled([work('a'), work('b', 'fails'), work('c')]);
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(log.filter((line) => line === 'rollback to one')).toHaveLength(1);
    expect(log.slice(-3)).toEqual(['commit', 'told a', 'told c']);
  });

  it('[D01] rejects all transactions when the commit fails, and rolls back', async () => {
    const { log, work } = recorded({ statement: 'commit' });
    const results = await Promise.allSettled([work('a'), work('b')]);
    expect(results.map((result) => result.status)).toEqual(['rejected', 'rejected']);
    expect(log.at(-1)).toBe('rollback');
  });

  it('[D01] rejects all transactions with the original error when the database rolled everything back', async () => {
    const { log, work } = recorded({ losesAll: true });
    const results = await Promise.allSettled([work('a'), work('b', 'fails'), work('c')]);
    const reasons = results.map((result) => result.status === 'rejected' && String(result.reason));
    expect(reasons).toEqual(Array(3).fill('Error: b failed'));
    expect(log).not.toContain('commit');
    expect(log).not.toContain('work c');
  });

  it('fails the group, but not the process, when no transaction can begin, and continues later', async () => {
    const { work } = recorded({ statement: 'begin immediate' });
    await expect(work('a')).rejects.toThrow('begin immediate failed');
    await expect(work('b')).rejects.toThrow('begin immediate failed');
  });

  it('lets timers run between groups, even when many transactions are requested', async () => {
    const { log, work } = recorded();
    const timer = new Promise<number>((resolve) => {
      setTimeout(() => resolve(log.filter((line) => line.startsWith('told')).length), 0);
    });
    const chain = async () => {
      for (let i = 0; i < 2_000; i += 1) await work('x');
    };
    await chain();
    expect(await timer).toBeLessThan(2_000);
  });

  it('resolves idle when all earlier requests are settled', async () => {
    const { log, work, group } = recorded();
    const many = Array.from({ length: 150 }, (_, i) => work(`${i}`));
    await group.idle();
    expect(log.filter((line) => line.startsWith('told'))).toHaveLength(150);
    expect(log.filter((line) => line === 'commit')).toHaveLength(3);
    await Promise.all(many);
  });

  it('[D01] skips the sync only if no transaction in the group needs it', async () => {
    const survived = ({ log }: { log: readonly string[] }) =>
      log.filter((line) => line.startsWith('survive'));
    const lax = recorded();
    await Promise.all([lax.work('a', 'works', 'process'), lax.work('b', 'works', 'process')]);
    const mixed = recorded();
    await Promise.all([mixed.work('a', 'works', 'process'), mixed.work('b')]);
    expect(survived(lax)).toEqual(['survive process']);
    expect(survived(mixed)).toEqual(['survive power-cut']);
  });
});
