import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../apps/parley/src/program.ts';
import type { Column } from '../../packages/store/src/tables/table.ts';
import { TABLE_LIST } from '../../packages/store/src/tables.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/upgrade.md'), 'utf8');

/** The rows of the tables in docs/upgrade.md. */
const ROWS = PAGE.split('\n').filter((line) => line.startsWith('|'));

const run = async () => undefined;

type Command = ReturnType<typeof createProgram>;

/** The former options of a command and of its subcommands. No other options are hidden. */
function formerOptions(command: Command): readonly string[] {
  const own = command.options.flatMap(({ hidden, long }) => (hidden && long != null ? [long] : []));
  return [...own, ...command.commands.flatMap(formerOptions)];
}

describe('docs/upgrade.md', () => {
  it('[D18] names each table and column that was renamed', () => {
    const renames = TABLE_LIST.flatMap(([name, table]) => {
      const former = table.formerly?.name ?? name;
      const columns = Object.entries<Column>(table.columns).flatMap(([column, { formerly }]) =>
        formerly === undefined
          ? []
          : [`| \`${former}.${formerly.name}\` | \`${name}.${column}\` |`],
      );
      return former === name ? columns : [`| \`${former}\` | \`${name}\` |`, ...columns];
    });
    expect(renames.filter((row) => !ROWS.includes(row))).toEqual([]);
    expect(renames.length).toBeGreaterThan(10);
  });

  it('[U02] names each option that was renamed', () => {
    const former = new Set(formerOptions(createProgram({ run, bare: run, starting: run })));
    const named = (option: string) => ROWS.some((row) => row.includes(` ${option}\``));
    expect([...former].filter((option) => !named(option))).toEqual([]);
    expect(former.size).toBeGreaterThan(3);
  });
});
