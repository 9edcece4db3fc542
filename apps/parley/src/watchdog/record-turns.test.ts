import { noWorkRecord, type WorkRecord } from '@parley/core';
import type { RunTurn } from '@parley/queue';
import { expect, it } from 'vitest';
import { addTurnRecording } from './record-turns.ts';

type Turn = Parameters<RunTurn>[0];

const LEASE = { conversationId: 'web:default:main', epoch: 1 };

/** Creates a turn that has hung its process this many times. */
function turn(turnId: string, hangs?: number): Turn {
  const nothing = { messages: [], groupContext: [], steps: [] };
  const base = { conversationId: `web:default:${turnId}`, session: 0, resumed: true, attempts: 1 };
  return { turnId, ...base, ...nothing, ...(hangs !== undefined && { hangs }) };
}

/** Creates turns that run until the test completes them, and captures the entries in the record. */
function scene() {
  const recorded: string[] = [];
  const started: string[] = [];
  const ending = new Map<string, () => void>();
  const work: WorkRecord = {
    run: (one, task) => {
      recorded.push(`${one.kind} ${one.key}`);
      return noWorkRecord.run(one, task);
    },
    endsOf: noWorkRecord.endsOf,
  };
  const run = addTurnRecording(work, ({ turnId }) => {
    started.push(turnId);
    return new Promise((resolve) => ending.set(turnId, resolve));
  });
  const begin = (one: Turn, stop = new AbortController()) => {
    const over = run(one, LEASE, stop.signal);
    return { over, stop };
  };
  return { recorded, started, begin, end: (turnId: string) => ending.get(turnId)?.() };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

it('[D13] records each turn, and runs turns that never hung concurrently', async () => {
  const { recorded, started, begin } = scene();
  begin(turn('a'));
  begin(turn('b', 0));
  await settled();
  expect(started).toEqual(['a', 'b']);
  expect(recorded).toEqual(['turn a', 'turn b']);
});

it('[D13] runs turns that were running during a hang one at a time, alongside all other turns', async () => {
  const { recorded, started, begin, end } = scene();
  const first = begin(turn('a', 1));
  begin(turn('b', 1));
  begin(turn('c'));
  await settled();
  expect(new Set(started)).toEqual(new Set(['a', 'c']));
  expect(recorded).not.toContain('turn b');
  end('a');
  await first.over;
  await settled();
  expect(started).toContain('b');
});

it('[D11] releases a turn that is aborted while it waits for another turn', async () => {
  const { started, begin, end } = scene();
  const first = begin(turn('a', 1));
  const second = begin(turn('b', 1));
  begin(turn('c', 2));
  second.stop.abort();
  await second.over;
  end('a');
  await first.over;
  await settled();
  expect(started).toEqual(['a', 'c']);
});
