import type { SentPart, SentPrompt } from '@parley/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { comparePrompts, findSharedPrefix } from './compare-prompts.ts';
import { compareTexts } from './compare-texts.ts';

function part(layer: string, text: string, placement: SentPart['placement'] = 'system'): SentPart {
  const audience = { kind: 'everyone' } as const;
  return { layer, placement, source: 's', audience, stable: true, cut: null, tokens: 1, text };
}

const promptOf = (...parts: readonly SentPart[]): SentPrompt => ({
  layout: 'parley',
  parts,
  unsent: [],
});

/** A small alphabet, many line breaks and surrogate pairs make the texts share many characters. */
const text = fc
  .array(fc.constantFrom('a', 'b', '\n', '\n', '🦜', '🦉', 'é', '\ud83e'), { maxLength: 40 })
  .map((letters) => letters.join(''));
const anyPart = fc
  .record({
    layer: fc.constantFrom('a', 'b', 'c'),
    text,
    placement: fc.constantFrom('system' as const, 'user' as const),
  })
  .map(({ layer, text: words, placement }) => part(layer, words, placement));
const anyPrompt = fc
  .array(anyPart, { maxLength: 6 })
  .map((parts) =>
    promptOf(
      ...parts.filter(({ placement }) => placement === 'system'),
      ...parts.filter(({ placement }) => placement === 'user'),
    ),
  );

const joined = (pieces: ReturnType<typeof compareTexts>, without: 'removed' | 'added') =>
  pieces
    .filter(({ kind }) => kind !== without)
    .map((piece) => piece.text)
    .join('');

describe('comparing two texts', () => {
  it('[P17] shows the differences line by line', () => {
    expect(compareTexts('date\n14:05\nzone\n', 'date\n14:06\nzone\n')).toEqual([
      { kind: 'same', text: 'date\n' },
      { kind: 'removed', text: '14:05\n' },
      { kind: 'added', text: '14:06\n' },
      { kind: 'same', text: 'zone\n' },
    ]);
    expect(compareTexts('', '')).toEqual([]);
  });

  it('[P17] neither loses nor invents text', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const pieces = compareTexts(before, after);
        expect(joined(pieces, 'added')).toBe(before);
        expect(joined(pieces, 'removed')).toBe(after);
        for (const [index, piece] of pieces.entries()) {
          expect(piece.text).not.toBe('');
          expect(piece.kind).not.toBe(pieces[index + 1]?.kind);
        }
      }),
    );
  });

  it('[P17] keeps the same number of lines in either direction', () => {
    const kept = (pieces: ReturnType<typeof compareTexts>) =>
      pieces.reduce(
        (sum, { kind, text: t }) => sum + (kind === 'same' ? t.split('\n').length : 0),
        0,
      );
    fc.assert(
      fc.property(text, text, (before, after) => {
        expect(kept(compareTexts(before, before))).toBe(
          before === '' ? 0 : before.split('\n').length,
        );
        const [there, back] = [compareTexts(before, after), compareTexts(after, before)];
        const lines = (pieces: typeof there) =>
          pieces.flatMap(({ kind, text: t }) => (kind === 'same' ? t.split(/(?<=\n)/) : [])).length;
        expect(lines(there)).toBe(lines(back));
      }),
    );
  });

  it('[P17] completes quickly for texts that have nothing in common', () => {
    const before = Array.from({ length: 20_000 }, (_, line) => `a${line}\n`).join('');
    const after = before.replaceAll('a', 'b');
    expect(compareTexts(before, after)).toEqual([
      { kind: 'removed', text: before },
      { kind: 'added', text: after },
    ]);
  });

  it('[P09] finds a shared beginning that, with the rest, adds up to the text, in either order', () => {
    fc.assert(
      fc.property(text, text, text, (head, before, after) => {
        const length = findSharedPrefix(head + before, head + after);
        expect(findSharedPrefix(head + after, head + before)).toBe(length);
        const bytes = (words: string) => Buffer.from(words);
        const prefix = (head + before).slice(0, length);
        expect((head + after).startsWith(prefix)).toBe(true);
        // The texts also match byte for byte, because no surrogate pair is split.
        expect(bytes(head + after).subarray(0, bytes(prefix).length)).toEqual(bytes(prefix));
      }),
    );
  });
});

describe('comparing two prompts', () => {
  it('[P09] reports how much of the beginning a cache can keep', () => {
    const before = promptOf(part('soul', 'x'.repeat(94)), part('facts', 'é14:05'));
    const after = promptOf(part('soul', 'x'.repeat(94)), part('facts', 'é14:06'));
    const { prefix, share, parts } = comparePrompts(before, after);
    expect(prefix).toEqual({ characters: 101, bytes: 102, tokens: 26 });
    expect(share).toBeCloseTo(102 / 103);
    expect(parts.map(({ layer, change, shared }) => ({ layer, change, shared }))).toEqual([
      { layer: 'soul', change: 'same', shared: 94 },
      { layer: 'facts', change: 'changed', shared: 5 },
    ]);
  });

  it('[P09] continues into the user message only after an identical system prompt', () => {
    const user = part('notes', 'the same', 'user');
    const same = comparePrompts(promptOf(part('a', 'x'), user), promptOf(part('a', 'x'), user));
    expect(same.share).toBe(1);
    const other = comparePrompts(promptOf(part('a', 'x'), user), promptOf(part('a', 'xy'), user));
    expect(other.prefix.characters).toBe(1);
    expect(other.parts.map(({ shared }) => shared)).toEqual([1, 0]);
  });

  it('[P17] reports added and removed parts', () => {
    const { parts } = comparePrompts(
      promptOf(part('a', 'x'), part('memory', 'private'), part('b', 'y')),
      promptOf(part('a', 'x'), part('b', 'y'), part('todos', 'z', 'user')),
    );
    expect(parts.map(({ layer, change }) => `${layer} ${change}`)).toEqual([
      'a same',
      'memory removed',
      'b same',
      'todos added',
    ]);
  });

  it('[P17] allows both prompts to be rebuilt from the comparison', () => {
    fc.assert(
      fc.property(anyPrompt, anyPrompt, (before, after) => {
        const there = comparePrompts(before, after);
        const texts = (without: 'removed' | 'added') =>
          there.parts
            .filter(({ change }) => change !== without)
            .map(({ pieces }) => joined(pieces, without));
        expect(texts('added')).toEqual(before.parts.map((it) => it.text));
        expect(texts('removed')).toEqual(after.parts.map((it) => it.text));
        const back = comparePrompts(after, before);
        expect(back.prefix).toEqual(there.prefix);
        expect([back.before, back.after]).toEqual([there.after, there.before]);
        expect(there.share).toBeGreaterThanOrEqual(0);
        expect(there.share).toBeLessThanOrEqual(1);
        expect(comparePrompts(after, after).share).toBe(1);
      }),
    );
  });
});
