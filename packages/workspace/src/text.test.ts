import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutText, estimateTokens, isBlank, quarterTokens } from './text.ts';

describe('a form that nobody filled in', () => {
  it.each([
    ['nothing', ''],
    ['a comment', '<!-- Write here what to do\nat each start. -->'],
    ['two comments', '<!-- a --> <!---->\n<!-- b -->'],
    ['a heading', '# Identity\n\n##\n'],
    ['labels without values', '- **Name:**\n- Role:\n*   \n- _Emoji:_ '],
    ['a rule', '---'],
  ])('is %s', (_, text) => {
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
  ])('is not %s', (_, text) => {
    expect(isBlank(text)).toBe(false);
  });

  it('is found in time that grows with its length alone', () => {
    for (const part of ['<!--', '-->', '<!---->', ' ', '- :', '#']) {
      expect(isBlank(`${part.repeat(200_000)}x`)).toBeTypeOf('boolean');
    }
  });
});

describe('cutting a text', () => {
  it('leaves a text alone that fits exactly', () => {
    expect(cutText('12345', 5, 'X.md')).toEqual({ text: '12345', cut: null });
  });

  it('[P10] says that the text was cut and how long the whole is', () => {
    const { text, cut } = cutText('a'.repeat(41_213), 20_000, 'SOUL.md');
    expect(cut).toEqual({ shown: 20_000, total: 41_213 });
    expect(text.startsWith('a'.repeat(20_000))).toBe(true);
    expect(text.slice(20_000)).toBe(
      '\n\n[Cut: the first 20,000 of 41,213 characters of SOUL.md are shown.]',
    );
  });

  it('does not split an emoji', () => {
    const { text, cut } = cutText('ab🌱cd', 3, 'X.md');
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
  ])('[S10] of %j is %i', (text, tokens) => {
    expect(estimateTokens(text)).toBe(tokens);
  });

  it('[S10] counts characters and not their halves', () => {
    const halves = fc.constantFrom('a', 'ü', '天', '😀', '\ud83d', '\udc4d');
    fc.assert(
      fc.property(fc.string({ unit: halves }), (text) => {
        const characters = [...text].map((one) => ((one.codePointAt(0) ?? 0) > 0x24f ? 4 : 1));
        expect(quarterTokens(text)).toBe(characters.reduce((sum, each) => sum + each, 0));
      }),
    );
  });
});
