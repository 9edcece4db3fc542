import { describe, expect, it } from 'vitest';
import { render } from '../render.ts';

/** The first of two parts that contain all but the last word. */
const begun = (markdown: string) =>
  render(markdown, {
    dialect: 'plain',
    unit: 'utf16',
    maxLength: Math.max(16, markdown.length - 1),
  })
    .map(({ text }) => text)
    .at(0);

const table: [what: string, markdown: string, first: string][] = [
  ['a full stop', 'Aaaa bbbb cccc. Dddd eeee', 'Aaaa bbbb cccc.'],
  ['a question and an exclamation', 'Aaaa bbbb? Cccc dddd! Eeee ffff', 'Aaaa bbbb? Cccc dddd!'],
  ['Chinese', '天地玄黃宇宙洪荒日月。寒來暑往秋收冬藏', '天地玄黃宇宙洪荒日月。'],
  [
    'Japanese with a quote',
    '彼は笑って「もうやめて！」そして静かになった',
    '彼は笑って「もうやめて！」',
  ],
  ['Arabic', 'هل أنت بخير اليوم؟ نعم أنا بخير', 'هل أنت بخير اليوم؟'],
  ['Urdu', 'یہ پہلا جملہ ہے۔ یہ دوسرا ہے', 'یہ پہلا جملہ ہے۔'],
  ['Hindi', 'यह पहला वाक्य है। यह दूसरा है', 'यह पहला वाक्य है।'],
  ['a closing quote', '“Aaaa bbbb cccc.” Dddd eeee', '“Aaaa bbbb cccc.”'],
  ['a closing bracket', 'Aaaa. (Bbbb cccc dddd.) Eeee ffff', 'Aaaa. (Bbbb cccc dddd.)'],
];

const none: [what: string, markdown: string, first: string][] = [
  ['an abbreviation', 'Aaaa bbbb e.g. cccc dddd', 'Aaaa bbbb e.g. cccc'],
  ['an abbreviation before a capital', 'Aaaa bbbb z.B. Cccc dddd', 'Aaaa bbbb z.B. Cccc'],
  ['a title', 'Aaaa bbbb Dr. Cccc dddd', 'Aaaa bbbb Dr. Cccc'],
  ['an initial', 'Aaaa bbbb J. Cccc dddd', 'Aaaa bbbb J. Cccc'],
  ['a decimal', 'Aaaa bbbb 3.14 Cccc dddd', 'Aaaa bbbb 3.14 Cccc'],
  ['a date', 'Aaaa bbbb am 3. Mai dddd', 'Aaaa bbbb am 3. Mai'],
  ['speech that goes on', '“Aaaa bbbb!” cccc dddd eeee', '“Aaaa bbbb!” cccc dddd'],
];

const together: [what: string, markdown: string, first: string][] = [
  ['a number and its groups', 'Aaaa bbbb cccc 10\u00a0000', 'Aaaa bbbb cccc'],
  ['a French word and its sign', 'Aaaa bbbb cccc dddd !', 'Aaaa bbbb cccc'],
  ['an address', 'Aaaa bbbb https://e.org/cccc', 'Aaaa bbbb'],
  [
    'a Chinese word and its comma',
    '天地玄黃宇宙洪荒日月盈昃辰宿列張，',
    '天地玄黃宇宙洪荒日月盈昃辰宿列',
  ],
];

describe('the end of a sentence', () => {
  it.each(table)('[M03] is a good place for a cut: %s', (_, markdown, first) => {
    expect(begun(markdown)).toBe(first);
  });

  it.each(none)('[M03] is not %s', (_, markdown, first) => {
    expect(begun(markdown)).toBe(first);
  });
});

describe('a cut between words', () => {
  it.each(together)('[M03] does not separate %s', (_, markdown, first) => {
    expect(begun(markdown)).toBe(first);
  });
});
