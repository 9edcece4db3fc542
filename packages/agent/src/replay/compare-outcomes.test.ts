import { describe, expect, it } from 'vitest';
import { compareAnswers, isNoticeable } from './compare-outcomes.ts';
import type { ReplayedAnswer } from './outcome.ts';

const call = (name: string, word = 'a') => ({ name, arguments: JSON.stringify({ word }) });

const ANSWER: ReplayedAnswer = {
  text: 'Fine.',
  calls: [call('read'), call('list')],
  usage: { model: 'm', inputTokens: 10, outputTokens: 2, cachedInputTokens: 4, costUsd: 0.5 },
  latencyMs: 100,
  model: 'm',
};

describe('the comparison of two answers', () => {
  it.each<[string, Partial<ReplayedAnswer>, object[]]>([
    ['nothing', {}, []],
    ['the text', { text: 'Good.' }, [{ kind: 'text', before: 'Fine.', after: 'Good.' }]],
    [
      'the order of calls',
      { calls: [call('list'), call('read')] },
      [{ kind: 'order', before: ['read', 'list'], after: ['list', 'read'] }],
    ],
    [
      'other arguments',
      { calls: [call('read', 'b'), call('list')] },
      [{ kind: 'calls', removed: [call('read')], added: [call('read', 'b')] }],
    ],
    [
      'a call made twice',
      { calls: [call('read'), call('list'), call('read')] },
      [{ kind: 'calls', removed: [], added: [call('read')] }],
    ],
    [
      'tokens, cached share and money',
      { usage: { model: 'n', inputTokens: 12, outputTokens: 2, costUsd: null } },
      [
        { kind: 'tokens', of: 'input', before: 10, after: 12 },
        { kind: 'tokens', of: 'cached', before: 4, after: 0 },
        { kind: 'money', before: 0.5, after: null },
      ],
    ],
    ['the time', { latencyMs: 90 }, [{ kind: 'latency', before: 100, after: 90 }]],
    ['nothing, if one side has no usage', { usage: null, latencyMs: null }, []],
  ])('[G22] finds %s', (_what, change, expected) => {
    expect(compareAnswers(ANSWER, { ...ANSWER, ...change })).toEqual(expected);
  });

  it('[G22] counts a turn as changed for what people notice, not for what it costs', () => {
    const cheaper = compareAnswers(ANSWER, { ...ANSWER, latencyMs: 1 });
    expect(cheaper.some(isNoticeable)).toBe(false);
    const other = compareAnswers(ANSWER, { ...ANSWER, text: '' });
    expect(other.some(isNoticeable)).toBe(true);
  });
});
