import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  estimateQuarterTokens,
  estimateTokens,
  isBlank,
  shortenAtClause,
  truncateText,
} from './text.ts';

describe('an empty form', () => {
  it.each([
    ['nothing', ''],
    ['a comment', '<!-- Write here what to do\nat each start. -->'],
    ['two comments', '<!-- a --> <!---->\n<!-- b -->'],
    ['a heading', '# Identity\n\n##\n'],
    ['labels without values', '- **Name:**\n- Role:\n*   \n- _Emoji:_ '],
    ['a rule', '---'],
  ])('recognizes %s as an empty form', (_, text) => {
    expect(isBlank(text)).toBe(true);
  });

  it.each([
    ['a sentence', 'Be kind.'],
    ['a sentence beside a comment', '<!-- a --> Be kind.'],
    ['one value among labels', '- **Name:** Mori\n- **Role:**'],
    ['a comment that is never closed', '<!-- Be kind.'],
    ['a list item', '- Be kind'],
    ['a tag', '#tea'],
    ['a code fence', '```\n```'],
  ])('does not recognize %s as an empty form', (_, text) => {
    expect(isBlank(text)).toBe(false);
  });

  it('recognizes an empty form in time that grows linearly with its length', () => {
    for (const part of ['<!--', '-->', '<!---->', ' ', '- :', '#']) {
      expect(isBlank(`${part.repeat(200_000)}x`)).toBeTypeOf('boolean');
    }
  });
});

describe('truncating a text', () => {
  it('does not change a text that fits exactly', () => {
    expect(truncateText('12345', 5, 'X.md')).toEqual({ text: '12345', cut: null });
  });

  it('[P10] reports that the text was truncated, and the length of the whole text', () => {
    const { text, cut } = truncateText('a'.repeat(41_213), 20_000, 'SOUL.md');
    expect(cut).toEqual({ shown: 20_000, total: 41_213 });
    expect(text.startsWith('a'.repeat(20_000))).toBe(true);
    expect(text.slice(20_000)).toBe(
      '\n\n[Cut: the first 20,000 of 41,213 characters of SOUL.md are shown.]',
    );
  });

  it('does not split an emoji', () => {
    const { text, cut } = truncateText('ab🌱cd', 3, 'X.md');
    expect(cut).toEqual({ shown: 2, total: 6 });
    expect(text.isWellFormed()).toBe(true);
  });
});

describe('the estimate of tokens', () => {
  it.each([
    ['', 0],
    ['word', 1],
    ['words', 2],
    ['天气', 2],
    ['👍🏽', 2],
    ['\ud83d\ud83d', 2],
    ['\udc4d\udc4d', 2],
  ])('[S10] estimates the tokens of %j as %i', (text, tokens) => {
    expect(estimateTokens(text)).toBe(tokens);
  });

  it('[S10] counts characters, not surrogate halves', () => {
    const halves = fc.constantFrom('a', 'ü', '天', '😀', '\ud83d', '\udc4d');
    fc.assert(
      fc.property(fc.string({ unit: halves }), (text) => {
        const characters = [...text].map((one) => ((one.codePointAt(0) ?? 0) > 0x24f ? 4 : 1));
        expect(estimateQuarterTokens(text)).toBe(characters.reduce((sum, each) => sum + each, 0));
      }),
    );
  });
});

describe('the beginning of a truncated text', () => {
  it.each([
    ['a sentence', 'Plans a trip. Books the train tickets.', 24, 'Plans a trip.'],
    ['a question', 'Which train? Asks the railway for it.', 20, 'Which train?'],
    ['a sentence that ends at the limit', 'Plans a trip. Books a train.', 13, 'Plans a trip.'],
    ['a Chinese sentence', '安排旅行和酒店。预订火车票和机票。', 12, '安排旅行和酒店。'],
    ['a Japanese question', '電車はどこですか？切符を買います。', 12, '電車はどこですか？'],
    ['a Hindi sentence', 'यात्रा की योजना बनाता है। टिकट खरीदता है।', 30, 'यात्रा की योजना बनाता है।'],
    ['an Arabic clause', 'يخطط للرحلة، ثم يحجز التذاكر', 18, 'يخطط للرحلة،'],
    ['a clause', 'Plans a trip, books the train tickets', 22, 'Plans a trip,'],
    ['what trails off', '安排旅行……预订火车票和机票', 8, '安排旅行……'],
    [
      'a sentence rather than a later clause',
      'Plans a trip now. Books hotels, trains',
      32,
      'Plans a trip now.',
    ],
    ['a word', 'Plans trips and hotels everywhere', 20, 'Plans trips and'],
    ['no part of a number', 'Costs up to, e.g. 1,000.50 euros', 25, 'Costs up to, e.g.'],
    ['nothing that is too early', `Go. ${'x'.repeat(40)}`, 20, `Go. ${'x'.repeat(16)}`],
    ['a character with its parts', 'abc👨‍👩‍👧‍👦def', 6, 'abc'],
    ['a text that fits', 'Plans a trip', 12, 'Plans a trip'],
  ])('[S05] ends with %s', (_case, text, limit, start) => {
    expect(shortenAtClause(text, limit)).toBe(start);
  });

  it('[S05] keeps the beginning within the limit, and does not split any character as people see it', () => {
    const unit = fc.constantFrom(
      'a',
      ' ',
      '.',
      ',',
      '天',
      '。',
      '👍🏽',
      '👨‍👩‍👧‍👦',
      'e\u0301',
      '🇩🇪',
      '！\ufe00',
    );
    const characters = new Intl.Segmenter('und', { granularity: 'grapheme' });
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 60 }), fc.nat(80), (text, limit) => {
        const start = shortenAtClause(text, limit);
        expect(start.length).toBeLessThanOrEqual(limit);
        expect(text.startsWith(start)).toBe(true);
        const ends = [...characters.segment(text)].map(({ index }) => index);
        expect([...ends, text.length]).toContain(start.length);
      }),
    );
  });
});
