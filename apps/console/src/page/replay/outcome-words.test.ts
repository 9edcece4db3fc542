import { describe, expect, it } from 'vitest';
import { listFigures, listTotals } from './figures.ts';
import {
  describeOutcome,
  markOwnCalls,
  type ReplayChoice,
  type ReplayOutcome,
  summarizeOutcome,
} from './outcome-words.ts';

const TURN = { turnId: 't', conversationId: 'c', at: 0, question: 'Hi', resumed: false };
const USAGE = {
  model: 'm',
  inputTokens: 100,
  outputTokens: 10,
  cachedInputTokens: 0,
  costUsd: 0.01,
};
const BEFORE = { text: 'a', calls: [], usage: USAGE, latencyMs: 1_000, model: 'm' };
const AFTER = {
  ...BEFORE,
  usage: { ...USAGE, inputTokens: 80, cachedInputTokens: 40, costUsd: 0.004 },
  latencyMs: 1_500,
};
const LAYER = { kind: 'request', part: 'layer soul', before: 'a', after: 'b' } as const;
const TEXT = { kind: 'text', before: 'a', after: 'b' } as const;
const CALL = { name: 'read', arguments: '{}' };
const ended = { ...TURN, before: BEFORE };
const DRY: ReplayChoice = { dryRun: true };

const OUTCOMES: Readonly<Record<string, ReplayOutcome>> = {
  built: { ...ended, kind: 'same', after: null, changes: [] },
  same: { ...ended, kind: 'same', after: AFTER, changes: [] },
  rebuilt: { ...ended, kind: 'changed', after: null, changes: [LAYER] },
  changed: { ...ended, kind: 'changed', after: AFTER, changes: [LAYER, TEXT, LAYER] },
  diverged: { ...ended, kind: 'diverged', after: AFTER, changes: [], call: CALL },
  incomplete: { ...TURN, kind: 'incomplete', missing: 'files', hint: 'A file is gone.' },
  failed: { ...ended, kind: 'failed', code: 'spend-cap', reason: 'The cap is reached.' },
};

describe('an outcome in words', () => {
  it.each<[keyof typeof OUTCOMES, ReplayChoice, string, RegExp, RegExp]>([
    ['built', DRY, 'Same request', /exactly as the model received it/, /Change something/],
    ['built', { ...DRY, model: 'x' }, 'Same request', /exactly/, /^Ask the model/],
    ['built', { ...DRY, files: { a: '' } }, 'Same request', /in no part/, /another turn/],
    ['built', { ...DRY, profile: 'x' }, 'Same request', /in no part/, /another turn/],
    ['same', {}, 'Same', /those of the record/, /figures/],
    ['rebuilt', DRY, 'Changed request', /listed below/, /Ask the model/],
    ['changed', {}, 'Changed', /^Different: request, text\.$/, /read both answers/],
    ['diverged', {}, 'Diverged', /called read .* not run/, /allow such tools/],
    ['diverged', { liveReads: true }, 'Diverged', /called read/, /does not only read/],
    ['incomplete', {}, 'Cannot be replayed', /^A file is gone\.$/, /newer turn/],
    ['failed', {}, 'No answer', /^The cap is reached\.$/, /spend-cap/],
  ])('[G22] says what %s with %o means and what to do', (name, choice, title, meaning, advice) => {
    const outcome = OUTCOMES[name];
    if (outcome === undefined) throw new Error(name);
    const words = describeOutcome(outcome, choice);
    expect(words.title).toBe(title);
    expect(words.meaning).toMatch(meaning);
    expect(words.advice).toMatch(advice);
  });

  it('[G22] is summarized in one row of a table', () => {
    expect(Object.values(OUTCOMES).map(summarizeOutcome)).toEqual([
      '',
      '',
      'request',
      'request, text',
      'called read',
      'a file is gone',
      'spend-cap',
    ]);
  });
});

describe('the figures of two answers', () => {
  it('[G22] are compared with their differences', () => {
    expect(listFigures(BEFORE, AFTER)).toEqual([
      { name: 'Tokens in', before: '100', after: '80', difference: '−20' },
      { name: 'Tokens out', before: '10', after: '10', difference: '0' },
      { name: 'Cached', before: '0 %', after: '50 %', difference: '+50 %' },
      { name: 'Money', before: '$0.01', after: '$0.004', difference: '−$0.006' },
      { name: 'Latency', before: '1.0 s', after: '1.5 s', difference: '+0.5 s' },
    ]);
  });

  it('[G22] are unknown when nothing was recorded, and have no difference then', () => {
    const unknown = { ...BEFORE, usage: null, latencyMs: null };
    for (const { before, difference } of listFigures(unknown, AFTER))
      expect([before, difference]).toEqual(['unknown', '']);
    expect(
      listFigures(BEFORE, null)
        .map(({ after }) => after)
        .join(''),
    ).toBe('');
  });

  it('[G22] are summed over the turns in which both sides are known', () => {
    const { same, built, incomplete } = OUTCOMES;
    const turns = [same, same, built, incomplete].filter((one) => one !== undefined);
    expect(listTotals(turns)).toEqual([
      { name: 'Tokens', before: '220', after: '180', difference: '−40' },
      { name: 'Money', before: '$0.02', after: '$0.008', difference: '−$0.012' },
      { name: 'Latency', before: '2.0 s', after: '3.0 s', difference: '+1.0 s' },
    ]);
  });
});

describe('the calls of one side', () => {
  it('[G22] are marked as often as the other side lacks them', () => {
    const marked = markOwnCalls([CALL, CALL, { ...CALL, name: 'list' }], [CALL]);
    expect(marked.map(({ isOwn }) => isOwn)).toEqual([false, true, false]);
  });
});
