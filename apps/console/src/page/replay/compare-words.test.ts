import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareWords } from './compare-words.ts';

/** A side with the words that only it has in brackets. */
const show = (runs: ReturnType<typeof compareWords>['before']) =>
  runs.map(({ text, isOwn }) => (isOwn ? `[${text}]` : text)).join('');

describe('comparing two answers word by word', () => {
  it.each([
    ['the same text', 'Yes, at ten.', 'Yes, at ten.', 'Yes, at ten.', 'Yes, at ten.'],
    ['another word', 'Meet at ten.', 'Meet at noon.', 'Meet at [ten].', 'Meet at [noon].'],
    ['a word that one side has', 'Meet Bo.', 'Meet.', 'Meet [Bo].', 'Meet.'],
    ['another punctuation mark', 'Well.', 'Well!', 'Well[.]', 'Well[!]'],
    ['spaces only', 'a  b\n', 'a b', 'a  b\n', 'a b'],
    ['no text', '', 'Hello', '', '[Hello]'],
    ['a script without spaces', '今天有会议', '明天有会议', '[今天]有会议', '[明天]有会议'],
  ])('[G22] marks %s', (_name, before, after, left, right) => {
    const compared = compareWords(before, after);
    expect([show(compared.before), show(compared.after)]).toEqual([left, right]);
  });

  it('[G22] loses no character of either text', () => {
    const text = fc.array(fc.constantFrom('a', 'b', ' ', '\n', '.', '🦜', 'é', '天'), {
      maxLength: 30,
    });
    const join = (runs: ReturnType<typeof compareWords>['before']) =>
      runs.map((run) => run.text).join('');
    fc.assert(
      fc.property(text, text, (one, other) => {
        const { before, after } = compareWords(one.join(''), other.join(''));
        expect([join(before), join(after)]).toEqual([one.join(''), other.join('')]);
      }),
    );
  });
});
