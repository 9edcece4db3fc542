import { toRunOptions } from '@parley/core/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatArguments } from './shown-arguments.ts';

/** Parses the arguments of a call back from the text that people see. */
function readBack(shown: string): unknown {
  if (shown === '{}') return {};
  const fields: [string, string[]][] = [];
  for (const line of shown.split('\n')) {
    const [, name, rest] = /^([a-z_][\w-]*|"(?:[^"\\]|\\.)*"):(.*)$/i.exec(line) ?? [];
    if (name !== undefined) fields.push([name, [rest ?? '']]);
    else fields.at(-1)?.[1].push(line);
  }
  return Object.fromEntries(fields.map(([name, lines]) => [nameOf(name), argumentOf(lines)]));
}

const nameOf = (name: string) => (name.startsWith('"') ? JSON.parse(decoded(name)) : name);

function argumentOf([first = '', ...rest]: readonly string[]): unknown {
  if (first === '') return decoded(rest.map((line) => line.slice(2)).join('\n'));
  if (first.startsWith(' "')) return decoded(first.slice(2, -1));
  return JSON.parse(decoded([first, ...rest].join('\n')));
}

const decoded = (text: string) =>
  text.replace(/\\u\{([0-9a-f]+)(?:\*(\d+))?\}/g, (_, code: string, count = '1') =>
    String.fromCodePoint(Number.parseInt(code, 16)).repeat(Number(count)),
  );

/** Characters that have been or might be used to hide or disguise text. */
const TRICKS =
  '\u3164 \u2800 \u2003 \u00a0 \u034f \u115f \u1160 \uffa0 \u200b \u200d \u202e \u2066 \ufeff \u00ad \u180e \u{e0041} \ue000 \ufe0e \u{e0100} \u0338 \u20dd \u3000 \u2028 \r \t \x1b \ud800 \udc00 \ufffc \u{1d159} \u{13441} \u1680 \ufff9'.split(
    ' ',
  );

const text = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...TRICKS,
        ' ',
        '\n',
        '\n\n\n\n',
        ' '.repeat(20),
        '|',
        '`',
        '```',
        '\\',
        '\\u{41}',
        '*3}',
      ),
      fc.constantFrom(
        '"',
        ': ',
        '+ ',
        'a',
        'а',
        'é',
        'e\u0301',
        'ш',
        'ὐ',
        'א',
        '❤\ufe0f',
        '你，',
        '，',
        '’',
        '{}',
      ),
      fc.string({ unit: 'binary' }),
      fc.string(),
    ),
  )
  .map((pieces) => pieces.join(''));
const input = fc.dictionary(
  fc.oneof(fc.constantFrom('path', 'text', '"x"', '| a', '__proto__'), text),
  fc.oneof(text, fc.jsonValue(), fc.array(text), fc.dictionary(text, text)),
);

describe('the text that shows a call to people', () => {
  it('[G05] shows the exact call, so that the text can be parsed back', () => {
    fc.assert(
      fc.property(input, (given) => {
        // The arguments as they arrive from a model, which sends JSON.
        const parsed: unknown = JSON.parse(JSON.stringify(given));
        expect(readBack(formatArguments(parsed))).toEqual(parsed);
      }),
      toRunOptions(500),
    );
  });

  it('[G05] does not contain invisible characters or a line that ends its code block', () => {
    const seen = /^(?:[\p{L}\p{N}\p{P}\p{S}\p{M} ]|\n(?![`~\s]*[`~]{3}))*$/u;
    const unseen =
      /(?!\ufe0f)\p{Default_Ignorable_Code_Point}|[\u2800\ufffc\u{1d159}]| {17}|\n{4}/u;
    fc.assert(
      fc.property(input, (given) => {
        const shown = formatArguments(given);
        expect(shown).toMatch(seen);
        expect(shown).not.toMatch(unseen);
        expect(shown.split('\n').filter((line) => line.endsWith(' '))).toEqual([]);
      }),
      toRunOptions(500),
    );
  });

  it.each(TRICKS.map((sign) => [sign.codePointAt(0)?.toString(16) ?? '', sign]))(
    '[G05] spells out U+%s, alone and repeated, at every position',
    (code, sign) => {
      for (const around of ['', 'x', 'é', 'ש', '❤', '你']) {
        const shown = formatArguments({ command: `${around}${sign}${sign.repeat(400)}; rm -r .` });
        expect(shown).toContain(`\\u{${code}*401}`);
        expect(shown.length).toBeLessThan(120);
      }
    },
  );

  it.each([
    ['a typed command', 'cat "a b" \\\n  | wc', '| cat "a b" \\\n|   | wc'],
    ['text after many blanks', `ls${' '.repeat(300)}; rm x`, 'ls\\u{20*300}; rm x'],
    ['text after many line breaks', `ls${'\n'.repeat(300)}rm x`, 'ls\\u{a*300}rm x'],
    ['a blank at the end of a line', 'ls \nx', '| ls\\u{20}\n| x'],
    ['text that imitates the escape', 'echo \\u{41}', 'echo \\u{5c}u{41}'],
    ['letters that pass for Latin ones', 'саt MEMORY.md', '\\u{441}\\u{430}t MEMORY.md'],
    [
      'a host name of such letters',
      'https://аррӏе.com',
      '://\\u{430}\\u{440*2}\\u{4cf}\\u{435}.com',
    ],
    ['quotation marks that quote nothing', 'echo ‘x; rm y’', 'echo \\u{2018}x; rm y\\u{2019}'],
    ['a Greek semicolon', 'ls \u037e rm', 'ls \\u{37e} rm'],
    ['wide signs', 'ls ＃ rm', 'ls \\u{ff03} rm'],
    ['letters that reverse the line', 'rm "א" ; cat "ב"', 'rm "\\u{5d0}" ; cat "\\u{5d1}"'],
    ['a combining mark on an ASCII letter', 'cafe\u0301', 'cafe\\u{301}'],
    ['stacked combining marks', `ш${'\u0301'.repeat(9)}`, 'ш\\u{301*9}'],
  ])('[G05] makes suspicious text visible: %s', (_, command, shown) => {
    expect(formatArguments({ command })).toContain(shown);
  });

  it.each([
    'Grüße, 你好，世界！ Привет.',
    'it’s ❤\ufe0f, 🦜 and 👍🏽',
    'notes/привет.md … ½ ²',
    'हिन्दी',
  ])('[G05] leaves %s unchanged', (words) =>
    expect(formatArguments({ words })).toBe(`words: "${words}"`),
  );

  it('[G05] leaves a line of right-to-left letters unchanged', () => {
    expect(formatArguments({ text: 'שלום, עולם!\nשלום' })).toBe('text:\n| שלום, עולם!\n| שלום');
  });

  it('[G05] lists arguments one after another, and shows the lines of long arguments', () => {
    const call = { path: 'a.md', text: 'one\n\ntwo\n', count: 3, list: ['x'], '"': true };
    expect(formatArguments(call).split('\n')).toEqual([
      ...['path: "a.md"', 'text:', '| one', '|', '| two', '|', 'count: 3'],
      ...['list: [', '  "x"', ']', '"\\"": true'],
    ]);
    expect(formatArguments({})).toBe('{}');
  });
});
