import { describe, expect, it } from 'vitest';
import { parseSlack } from './parse-slack.ts';

const runsOf = (text: string) =>
  parseSlack(text).runs.map(({ text: shown, formats, link }) => {
    const all = [...formats, ...(link === undefined ? [] : [link.url])];
    return all.length === 0 ? shown : `${all.join('+')}:${shown}`;
  });

const shown: [what: string, text: string, runs: string[]][] = [
  ['each mark', '*b* _i_ ~s~ `c`', ['bold:b', ' ', 'italic:i', ' ', 'strike:s', ' ', 'code:c']],
  ['nested marks', '*b _i_*', ['bold:b ', 'bold+italic:i']],
  ['entities', 'a &lt;b&gt; &amp;amp;', ['a <b> &amp;']],
  ['entities in code', '`a &lt; b`', ['code:a < b']],
  ['a link', '<https://e.org?a=1&amp;b|x &amp; y> z', ['https://e.org?a=1&b:x & y', ' z']],
  ['a URL', 'a <https://e.org/_a_> b', ['a ', 'https://e.org/_a_:https://e.org/_a_', ' b']],
  ['a marked link', '*<https://e.org|a>*', ['bold+https://e.org:a']],
  ['a block of code', '```\na\nb\n```', ['monospace:\na\nb\n']],
  ['a quote', '> *a*', ['quote+bold:a']],
  ['markers with word joiners as text', '\u2060*\u2060a*', ['\u2060*\u2060a*']],
  ['lists as text', '- a\n1. b', ['- a', '1. b']],
];

const wrong: [kind: string, text: string, part: string][] = [
  ['alive', 'a <!channel> b', '<!channel>'],
  ['alive', '<@U123>', '<@U123>'],
  ['alive', 'a @ada b', '@ada'],
  ['alive', ':smile:', ':smile:'],
  ['token', 'a < b', '<'],
  ['token', 'a & b', '&'],
  ['token', '`<!here>`', '<!here>'],
  ['token', '```\na > b\n```', '>'],
  ['token', '<ftp://e.org>', '<ftp://e.org>'],
  ['fence', '```a', '```'],
  ['ambiguous', '👍*a*', '*a*'],
  ['ambiguous', '中*a*', '*a*'],
  ['ambiguous', '&gt;a', '>a'],
  ['ambiguous', '  &gt; a', '  > a'],
  ['ambiguous', '<https://e.org|a *b*>', '*b*'],
  // Some clients treat the word joiner as a space, others as a letter.
  ['ambiguous', '\u2060*a*', '*a*'],
  ['ambiguous', ' *\u2060a*', '*\u2060a*'],
];

describe("the parser of Slack's mrkdwn", () => {
  it.each(shown)('[M01] parses %s', (_, text, runs) => {
    expect(runsOf(text)).toEqual(runs);
    expect(parseSlack(text).violations).toEqual([]);
  });

  it.each(wrong)('[M01] reports the violation %s: %j', (kind, text, part) => {
    expect(parseSlack(text).violations).toContainEqual({ kind, text: part });
  });
});
