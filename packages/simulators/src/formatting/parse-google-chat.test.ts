import { describe, expect, it } from 'vitest';
import { parseGoogleChat } from './parse-google-chat.ts';

const shown: [what: string, text: string, visible: string][] = [
  ['marks', '*b* _i_ ~s~ `c`', 'b i s c'],
  ['a link', '<https://e.org/?a=1&b|x & y> z', 'x & y z'],
  ['bullets', '- a\n* b\n    • c', '• a\n• b\n    • c'],
  ['numbers as text', '1. a', '1. a'],
  ['entities as text', 'a &lt; b', 'a &lt; b'],
  ['brackets that are no token', 'a < b > c <div>', 'a < b > c <div>'],
  ['a token with an invisible character as text', '<\u200busers/all>', '<\u200busers/all>'],
];

const wrong: [kind: string, text: string, part: string][] = [
  ['alive', 'a <users/all> b', '<users/all>'],
  ['alive', '`<users/1>`', '<users/1>'],
  ['token', '<ftp://e.org|a>', '<ftp://e.org|a>'],
  ['token', '<https://e.org>', '<https://e.org>'],
  ['token', 'a <b|c>', '<b|c>'],
  ['ambiguous', '👍*a*', '*a*'],
  ['ambiguous', '>a', '>a'],
  ['ambiguous', '\u2060*a*', '*a*'],
];

describe("the parser of Google Chat's syntax", () => {
  it.each(shown)('[M01] parses %s', (_, text, visible) => {
    const message = parseGoogleChat(text);
    expect(message.visible).toBe(visible);
    expect(message.violations).toEqual([]);
  });

  it.each(wrong)('[M01] reports the violation %s: %j', (kind, text, part) => {
    expect(parseGoogleChat(text).violations).toContainEqual({ kind, text: part });
  });

  it('[M01] returns the formatting and links of each run', () => {
    expect(parseGoogleChat('*a <https://e.org|b>*').runs).toEqual([
      { text: 'a ', formats: ['bold'] },
      { text: 'b', formats: ['bold'], link: { url: 'https://e.org' } },
    ]);
  });
});
