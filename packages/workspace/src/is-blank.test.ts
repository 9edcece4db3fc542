import { describe, expect, it } from 'vitest';
import { isBlank } from './is-blank.ts';

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
