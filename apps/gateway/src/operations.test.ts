import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Call } from '@parley/core';
import { describe, expect, it } from 'vitest';
import {
  findOperation,
  listOperations,
  type OperationServices,
  performOperation,
} from './operations.ts';

const reads: string[] = [];
/** Services that throw when they are used, except for the hooks. */
const SERVICES = {
  scrub: (text: string) => text.replaceAll('hunter2', '[secret]'),
  async hooks() {
    reads.push('hooks');
    return { list: async () => [{ name: 'ci', said: 'it is hunter2' }] };
  },
} as unknown as OperationServices;

const OWNER: Call = { caller: { name: 'Ann', role: 'owner' } };

describe('performing an operation in the process', () => {
  it('[U03] [G18] returns a response without secrets to an owner', async () => {
    const answer = await performOperation(SERVICES, 'hooks/list', {}, OWNER);
    expect(answer).toEqual({ hooks: [{ name: 'ci', said: 'it is [secret]' }] });
  });

  it.each<[string, string, unknown, Call | { caller: undefined }]>([
    ['no-caller', 'hooks/list', {}, { caller: undefined }],
    ['role-needed', 'hooks/list', {}, { caller: { name: 'Bo', role: 'viewer' } }],
    ['role-needed', 'hooks/list', {}, { caller: { name: 'Bo', role: 'operator' } }],
    ['wrong-input', 'hooks/list', { all: true }, OWNER],
    ['wrong-input', 'hooks/list', undefined, OWNER],
    ['no-operation', 'hooks/toString', {}, OWNER],
    ['no-operation', 'hooks', {}, OWNER],
    ['no-operation', 'toString/list', {}, OWNER],
    ['no-operation', '/', {}, OWNER],
  ])(
    '[U03] is refused with %s and does not open any services: %s',
    async (code, name, input, call) => {
      const before = reads.length;
      await expect(performOperation(SERVICES, name, input, call)).rejects.toMatchObject({ code });
      expect(reads).toHaveLength(before);
    },
  );

  it('[U03] reports the error in the input', async () => {
    const asked = performOperation(SERVICES, 'hooks/test', { name: 7, body: '' }, OWNER);
    await expect(asked).rejects.toThrow(/^name: .*string/);
  });

  it('[U03] reserves operations without a declared role for owners', async () => {
    expect((await findOperation('hooks/list'))?.role).toBeUndefined();
  });
});

describe('the documentation of operations', () => {
  it('[U03] names each operation with a noun or a verb, never with a question', async () => {
    const asked = (await listOperations()).filter(({ summary }) =>
      /^(?:How|What|When|Where|Whether|Which|Who|Whose|Why)\b/.test(summary),
    );
    expect(asked.map(({ summary }) => summary)).toEqual([]);
  });

  it('[U03] lists each operation with its declared role', async () => {
    const page = readFileSync(join(import.meta.dirname, '../../../docs/operations.md'), 'utf8');
    const rows = (await listOperations()).map(
      ({ name, does, role = 'owner', running, summary }) => {
        const kind = running ? `${does}, running` : does;
        return `| \`${name}\` | ${kind} | ${role} | ${summary} |`;
      },
    );
    expect(page.split('\n').filter((line) => line.startsWith('| `'))).toEqual(rows);
  });
});
