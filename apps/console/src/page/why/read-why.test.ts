import { describe, expect, it } from 'vitest';
import { readRecent, readWhy } from './read-why.ts';

const message = { channel: 'web', account: 'default', chatId: 'c', messageId: '7', at: 5 };
const named = { name: 'web/default:c/7', channel: 'web', chatId: 'c', messageId: '7', at: 5 };

describe('what the gateway says of a message', () => {
  it('[D08] is a timeline, a choice, or nothing', () => {
    const entry = { stage: 'lane', at: 5, ms: 9, words: 'waited', mark: 'open' };
    const timeline = { message, turnId: 't', hasPrompt: true, verdict: 'No.', entries: [entry] };
    expect(readWhy({ kind: 'found', timeline })).toEqual({
      kind: 'found',
      message: named,
      turnId: 't',
      verdict: 'No.',
      stages: [{ stage: 'lane', at: 5, ms: 9, words: 'waited', detail: '', isMarked: true }],
    });
    expect(readWhy({ kind: 'several', candidates: [message, 3] })).toEqual({
      kind: 'several',
      candidates: [named],
    });
    expect(readWhy({ kind: 'unknown' })).toEqual({ kind: 'unknown' });
  });

  it.each([null, 3, {}, { kind: 'found' }, { kind: 'found', timeline: {} }])(
    'is not shown where it cannot be: %j',
    (data) => {
      expect(readWhy(data)).toBeNull();
      expect(readRecent(data)).toEqual([]);
    },
  );
});
