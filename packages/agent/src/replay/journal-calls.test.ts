import { describe, expect, it } from 'vitest';
import type { JournaledCall, ResultStep, TurnRound } from '../loop/turn-journal.ts';
import { answerFromJournal, DivergedError } from './journal-calls.ts';

const audience = { kind: 'everyone' } as const;

function createCall(key: string, given: object | string, text: string | null): JournaledCall {
  const written = typeof given === 'string' ? given : JSON.stringify(given);
  const base = { kind: 'result', call: key, failed: false, foreign: false, audience } as const;
  return {
    key,
    call: { id: key, name: 'parrot', arguments: written },
    started: false,
    held: [],
    result: text === null ? null : { ...base, text },
  };
}

const ROUND: Omit<TurnRound, 'calls'> = {
  step: {
    ...{ kind: 'model', text: '', calls: [], audience },
    usage: { model: 'm', inputTokens: 1, outputTokens: 1, costUsd: null },
  },
  joined: [],
};

async function answer(recorded: readonly JournaledCall[], asked: readonly JournaledCall[]) {
  const results: Pick<ResultStep, 'call' | 'text'>[] = [];
  const journal = {
    async append(step: object): Promise<boolean> {
      results.push(step as ResultStep);
      return true;
    },
  };
  const answerCalls = answerFromJournal([{ ...ROUND, calls: recorded }], journal);
  await answerCalls({ step: ROUND.step, calls: asked });
  return results.map(({ call, text }) => [call, text]);
}

describe('the calls of a replay', () => {
  it('[G22] are answered by name and arguments, in any order of the keys', async () => {
    const recorded = [
      createCall('r1', { word: 'a', loud: true }, 'A!'),
      createCall('r2', '', 'nothing'),
    ];
    const asked = [createCall('n1', '', null), createCall('n2', '{"loud": true,"word":"a"}', null)];
    expect(await answer(recorded, asked)).toEqual([
      ['n1', 'nothing'],
      ['n2', 'A!'],
    ]);
  });

  it('[G22] use each recorded result once and in order, because a repeated call may differ', async () => {
    const recorded = ['one', 'two'].map((text, nth) => createCall(`r${nth}`, { word: 'a' }, text));
    const asked = [createCall('n1', { word: 'a' }, null), createCall('n2', { word: 'a' }, null)];
    expect(await answer(recorded, asked)).toEqual([
      ['n1', 'one'],
      ['n2', 'two'],
    ]);
    const again = [...asked, createCall('n3', { word: 'a' }, null)];
    await expect(answer(recorded, again)).rejects.toBeInstanceOf(DivergedError);
  });

  it('[G22] end the replay if the record has no result for them', async () => {
    const asked = [createCall('n1', { word: 'b' }, null)];
    const diverged = answer([createCall('r1', { word: 'a' }, 'A')], asked);
    await expect(diverged).rejects.toMatchObject({
      code: 'replay-diverged',
      call: { name: 'parrot', arguments: '{"word":"b"}' },
    });
    const interrupted = answer([createCall('r1', { word: 'b' }, null)], asked);
    await expect(interrupted).rejects.toBeInstanceOf(DivergedError);
  });
});
