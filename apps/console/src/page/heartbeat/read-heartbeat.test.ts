import { describe, expect, it } from 'vitest';
import { readHeartbeat } from './read-heartbeat.ts';

describe('how the heartbeat does, as the page reads it', () => {
  it('[H02] takes what it knows and leaves out the rest', () => {
    const last = { state: 'alerted', at: 1, words: '14:00, I told you' };
    const state = readHeartbeat({
      plan: { words: 'off (`heartbeat.enabled` is false)', enabled: false },
      tasks: [{ name: 'mail', last, next: null, more: 1 }, 'x'],
      runs: [
        { id: 'r', task: 'mail', state: 'held', words: '14:00, held', tokens: 7, alert: null },
      ],
      problems: ['line 3', 4],
    });
    expect(state?.plan).toBe('off (heartbeat.enabled is false)');
    expect(state?.tasks.map(({ name }) => name)).toEqual(['mail', '']);
    expect(state?.tasks[0]).toMatchObject({ last: { state: 'alerted' }, next: { words: '' } });
    expect(state?.runs).toEqual([
      { id: 'r', task: 'mail', state: 'held', words: '14:00, held', tokens: 7, alert: '' },
    ]);
    expect(state?.problems).toEqual(['line 3', '']);
  });

  it.each([null, 'text', {}, { plan: 1 }])('[H02] does not understand %o', (answer) => {
    expect(readHeartbeat(answer)).toBeNull();
  });
});
