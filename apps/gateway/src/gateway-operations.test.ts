import { describe, expect, it } from 'vitest';
import { operations } from './gateway-operations.ts';

const CALL = { caller: { name: 'Ann', role: 'owner' } } as const;

describe('restarting or stopping the gateway', () => {
  it.each(['restart', 'stop'] as const)(
    '[D12] is confirmed before the process ends: %s',
    async (name) => {
      const asked: string[] = [];
      const needs = {
        restart: () => void asked.push('restart'),
        stop: () => void asked.push('stop'),
      };
      const answer = await operations[name].run(needs, {}, CALL);
      expect([answer, asked]).toEqual([{ text: 'This process is shutting down.' }, [name]]);
    },
  );

  it('[D12] is refused if the process cannot end itself', async () => {
    await expect(operations.stop.run({}, {}, CALL)).rejects.toThrow('Stop it manually.');
  });
});
