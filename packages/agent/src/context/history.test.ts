import type { ModelMessage } from '@parley/models';
import { estimateTokens } from '@parley/workspace';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTextEntry } from '../turn/turn-text.ts';
import { assembleHistory, computeHistoryBudget, isHistoryFull, truncateRounds } from './history.ts';

const user = (text: string) => createTextEntry('user', text);
const assistant = (text: string) => createTextEntry('assistant', text);
const now = (content: string) => ({ role: 'user', content }) as const;
const ROOM = { history: 1_000, now: 1_000 };
const messages = (
  entries: readonly ReturnType<typeof createTextEntry>[],
  content: string,
  budget = ROOM,
  summary: string | null = null,
) => assembleHistory({ summary, entries, now: now(content) }, budget).messages;

describe('the history in a model request', () => {
  it('consists of earlier messages, followed by the new message', () => {
    expect(messages([user('hi'), assistant('hello')], 'and?')).toEqual([
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'hello' },
      { role: 'user', content: 'and?' },
    ]);
  });

  it('[G11] starts with the summary of the entries that are omitted', () => {
    expect(messages([user('hi'), assistant('hello')], 'and?', ROOM, 'notes')[0]).toEqual({
      role: 'user',
      content: 'notes\n\nhi',
    });
  });

  it('[G11] [P10] marks a summary as truncated if it would otherwise take all the space', () => {
    const [first] = messages([user('hi'), assistant('hello')], 'and?', ROOM, 'n'.repeat(9_000));
    expect(first?.content).toMatch(/^n{2000}\n\n\[Cut: .* of these notes are shown\.\]\n\nhi$/);
  });

  it('[G11] [P10] contains a notice if even the beginning of the summary does not fit', () => {
    const budget = { history: 100, now: 100 };
    const [first] = messages([], 'and?', budget, 'n'.repeat(9_000));
    expect(first?.content).toMatch(
      /^\[The earlier part of this conversation cannot be shown.*and\?$/s,
    );
  });

  it('joins an unanswered question to the next one', () => {
    expect(messages([user('one'), user('two')], 'three')).toEqual([
      { role: 'user', content: 'one\n\ntwo\n\nthree' },
    ]);
  });

  it('[F10] keeps the new message’s pictures if its text is joined to older text', () => {
    const images = [{ mimeType: 'image/png', bytes: Uint8Array.of(1) } as const];
    const parts = { summary: null, entries: [user('one')], now: { ...now('two'), images } };
    expect(assembleHistory(parts, ROOM).messages).toEqual([
      { role: 'user', content: 'one\n\ntwo', images },
    ]);
  });

  it('[G11] [P10] omits the oldest messages as a whole, with a notice, and never starts with an answer', () => {
    const past = [user('x'.repeat(600)), assistant('old'), user('q'.repeat(300)), assistant('a')];
    const shown = messages(past, 'now', { history: 100, now: 100 });
    expect(shown.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(shown[0]?.content).toMatch(/^\[2 earlier messages .*\]\n\nq{300}$/);
  });

  it('[G11] [P10] truncates the newest message, with a notice, if it is too long by itself', () => {
    const [message] = messages([], 'y'.repeat(9_000), { history: 0, now: 100 });
    expect(message?.content).toMatch(/^y{400}\n\n\[Cut: the first 400 of 9,000 characters/);
  });

  it('[D05] says after an undelivered answer that it did not reach the chat, and why', () => {
    const lost = { ...assistant('hello'), undelivered: 'the bot was blocked' };
    expect(messages([user('hi'), lost], 'and?').at(-1)?.content).toMatch(
      /^⚙️ .*the bot was blocked\n\nand\?$/,
    );
  });

  it('skips entries that are neither question nor answer', () => {
    const past = [user('q'), { role: 'tool', content: { anything: 1 } } as const, assistant('a')];
    const parts = { summary: null, entries: past, now: now('now') };
    expect(assembleHistory(parts, ROOM).messages).toHaveLength(3);
  });

  it('[G11] alternates roles, begins and ends with the person, fits its budget and truncates no message', () => {
    const entry = fc.record({
      role: fc.constantFrom('user' as const, 'assistant' as const),
      text: fc.string({ minLength: 1, maxLength: 200 }).map((text) => `<${text}>`),
    });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 40 }), fc.nat(400), (past, history) => {
        const entries = past.map(({ role, text }) => createTextEntry(role, text));
        const shown = messages(entries, 'now', { history, now: 10 });
        for (const [index, { role }] of shown.entries()) {
          expect(role).toBe(index % 2 === 0 ? 'user' : 'assistant');
        }
        expect(shown.at(-1)?.content.endsWith('now')).toBe(true);
        const all = shown.map(({ content }) => content).join('\n\n');
        const kept = past.findIndex((_one, from) =>
          all.endsWith([...past.slice(from).map(({ text }) => text), 'now'].join('\n\n')),
        );
        const whole = past.slice(kept < 0 ? past.length : kept);
        const size = whole.reduce((sum, { text }) => sum + text.length / 4, 0);
        expect(size).toBeLessThanOrEqual(history);
        if (kept !== 0 && past.some(({ role }) => role === 'user')) {
          expect(all).toMatch(/earlier messages?|^(<|now)/);
        }
      }),
    );
  });

  it('[G11] keeps the same beginning for many turns, even while the oldest messages drop out', () => {
    const past: ReturnType<typeof createTextEntry>[] = [];
    let changes = 0;
    let before = '';
    for (let turn = 0; turn < 120; turn += 1) {
      const first = messages(past, 'now', { history: 1_000, now: 100 })[0]?.content ?? '';
      if (turn > 1 && first !== before) changes += 1;
      before = first;
      past.push(user(`question ${turn} ${'q'.repeat(60)}`), assistant('a'.repeat(60)));
    }
    expect(changes).toBeLessThan(24);
  });
});

describe('the history budget', () => {
  const limits = { entries: 100, tokens: 5_000 };
  it.each([
    ['is the limit of the settings if there is room', 200_000, { fixed: 3_000, now: 100 }, 5_000],
    ['is what prompt, answer and message leave over', 8_192, { fixed: 3_000, now: 1_000 }, 3_168],
    ['is nothing if the prompt takes everything', 8_192, { fixed: 9_000, now: 100 }, 0],
    [
      'is the limit of the settings if the context window is unknown',
      Infinity,
      { fixed: 1, now: 1 },
      5_000,
    ],
  ])('[G11] the budget for the past %s', (_what, context, size, expected) => {
    expect(computeHistoryBudget(context, size, limits).history).toBe(expected);
  });

  it('[G11] reserves the guaranteed minimum for the past even if the prompt leaves no space', () => {
    const size = { fixed: 9_000, now: 100 };
    expect(computeHistoryBudget(8_192, size, { tokens: 5_000, least: 600 }).history).toBe(600);
  });

  it('[G11] reserves a quarter for the newest message even if the prompt takes all the space', () => {
    expect(computeHistoryBudget(8_192, { fixed: 9_000, now: 100 }, limits).now).toBe(2_048);
  });

  it.each([
    [699, 1, false],
    [701, 1, true],
    [1, 71, true],
  ])('[G11] %i of 1000 tokens and %i of 100 entries count as full: %s', (tokens, entries, full) => {
    expect(isHistoryFull({ tokens, entries, budget: 1_000 }, limits)).toBe(full);
  });
});

const step: ModelMessage = {
  role: 'assistant',
  content: '',
  toolCalls: [{ id: '1', name: 'read', arguments: '{}' }],
};
const result = (content: string): ModelMessage => ({
  role: 'tool',
  callId: '1',
  name: 'read',
  content,
  failed: false,
});
const contents = (messages: readonly ModelMessage[]) => messages.map(({ content }) => content);
const tokens = (messages: readonly ModelMessage[]) =>
  contents(messages).reduce((sum, text) => sum + estimateTokens(text), 0);

describe('a turn’s rounds', () => {
  it('[G11] are unchanged if they fit or if the context window is unknown', () => {
    const all = [step, result('x'.repeat(4_000))];
    expect(truncateRounds(all, 1_100)).toBe(all);
    expect(truncateRounds(all, Number.POSITIVE_INFINITY)).toBe(all);
  });

  it('[G11] [P10] have their longest results truncated, with a note; short ones stay complete', () => {
    const all = [
      step,
      result('short'),
      step,
      result('x'.repeat(40_000)),
      result('y'.repeat(8_000)),
    ];
    const [, short, , long, other] = contents(truncateRounds(all, 2_000));
    expect(short).toBe('short');
    expect(long).toMatch(/^x+\n\n\[Cut: the first [\d,]+ of 40,000 characters of this result/);
    expect(other).toMatch(/^y+\n\n\[Cut/);
  });

  it('[P18] keep the line that closes a frame around untrusted text when they are truncated', () => {
    const framed = `<<<data 4711\n${'x'.repeat(40_000)}\n>>>data 4711`;
    const [text = ''] = contents(truncateRounds([result(framed)], 1_000));
    expect(text.startsWith('<<<data 4711\nx')).toBe(true);
    expect(text.endsWith(' are shown.]\n>>>data 4711')).toBe(true);
  });

  it('[G11] fit their budget, whatever the length of the tool results', () => {
    const texts = fc.array(fc.nat(30_000), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(texts, fc.integer({ min: 1_500, max: 8_000 }), (lengths, budget) => {
        const all = lengths.flatMap((length) => [step, result('z'.repeat(length))]);
        // The budget does not include the notes about truncation.
        expect(tokens(truncateRounds(all, budget))).toBeLessThanOrEqual(
          budget + 30 * lengths.length,
        );
      }),
    );
  });
});
