import { isDueToday, isFullRun, scaleRunCount } from '@parley/core/testing';
import { describe, expect, it } from 'vitest';
import { CAPABILITIES, type PrintedTarget } from './capabilities.ts';
import { createPrefixRenderer } from './index.ts';
import { measureLength } from './part-printer.ts';
import { renderSteps } from './render.ts';

const fill = (text: string, length: number) =>
  text.repeat(Math.ceil(length / text.length)).slice(0, length);

/**
 * Repeats the text this many times, each with a unique word, so that a test can check that each
 * arrives once.
 */
const each = (count: number, text: (word: string, index: number) => string, between = '\n') =>
  Array.from({ length: count }, (_, index) => text(`w${index}w`, index)).join(between);

const link = (word: string) => `[${word}](https://e.org/${word.length})`;
const cells = (word: string) => `|${`${word}|`.repeat(12)}`;

/**
 * Markdown that stalls parsers or renderers, keyed by its description, for tests. Words such as
 * `w12w` are the content, if the input has any.
 * @param share how much of each to generate, up to 1; names state the length of the whole.
 */
function hostileInputs(share: number): Readonly<Record<string, () => string>> {
  const KB = 1_000 * share;
  const MB = 1_000_000 * share;
  const K = 1_000 * share;
  const rows = Math.ceil(250 * Math.min(1, share * 5));
  return {
    '80 kB of emphasis that never closes': () => fill('a**b', 80 * KB),
    '80 kB of mixed emphasis': () => fill('*a_ ', 80 * KB),
    'emphasis in many small blocks': () => fill(`${'*a*b'.repeat(240)}\n\n`, 80 * KB),
    '500 lists in one line': () => `${'- '.repeat(500)}w1w`,
    '500 nested lists': () => each(500, (word, index) => `${'  '.repeat(index)}- ${word}`),
    '500 quotes in one line': () => `${'> '.repeat(500)}w1w`,
    '500 nested quotes': () => each(500, (word, index) => `${'> '.repeat(index)}${word}`),
    'lists in quotes in lists': () => `${'- > '.repeat(250)}w1w`,
    'lazy lines under deep quotes': () => '> '.repeat(20) + fill('a\n', 80 * KB),
    'underlined headings': () => fill('a\n=\n', 80 * KB),
    '20,000 list items': () => each(20 * K, (word) => `- ${word}`),
    '2 MB in one line': () => each(250 * K, (word) => word, ' '),
    '2 MB of lines': () => each(250 * K, (word) => word),
    '2 MB of paragraphs': () =>
      each(250 * K, (word, index) => (index % 40 === 39 ? `${word}.\n` : `${word} `)),
    'a word of 2 MB': () => fill('x', 2 * MB),
    '2 MB of Chinese': () => fill('天地玄黃，宇宙洪荒。日月盈昃', (2 * MB) / 3),
    '100,000 links in one line': () => each(100 * K, link, ' '),
    '100,000 links on lines of their own': () => each(100 * K, link),
    '100,000 bare addresses': () => each(100 * K, (word) => `https://e.org/${word}`, ' '),
    '4,000 links in a list': () => each(4 * K, (word) => `- ${link(word)}`),
    'a table of 2 MB in 12 columns': () =>
      `${cells('h')}\n${cells('-')}\n${each(25 * K, (word) => `|${word}${cells('x')}`)}`,
    'a table as long as one parsed block may be': () =>
      `${cells('h')}\n${cells('-')}\n${each(rows, (word) => `|${word}${cells('x')}`)}`,
    'a table as wide as long': () => `${fill('|a', 40 * KB)}\n${fill('|-', 40 * KB)}`,
    '80 kB of table rows': () => fill('|a\n', 80 * KB),
    '1 MB of code': () => `\`\`\`js\n${each(125 * K, (word) => word)}\n\`\`\``,
    '1 MB of code in one line': () => `\`\`\`\n${each(125 * K, (word) => word, ' ')}\n\`\`\``,
    '1 MB of code in a list': () =>
      `- a\n  \`\`\`\n  ${each(100 * K, (word) => word, '\n  ')}\n  \`\`\``,
    '50,000 footnotes': () =>
      `${each(50 * K, (_, index) => `[^${index}]`, ' ')}\n\n${each(50 * K, (word, index) => `[^${index}]: ${word}`)}`,
    'words far apart': () => each(100, (word) => word, ' '.repeat(10 * KB)),
    '1 MB of closing quotes': () => `a${fill('”', MB / 3)}`,
    '1 MB of full stops': () => `a${fill('. ', MB)}`,
    '80 kB of opening brackets': () => fill('[', 80 * KB),
    '80 kB of closing brackets': () => fill('a]', 80 * KB),
    '80 kB of half links': () => fill('[a](', 80 * KB),
    '80 kB of angle brackets': () => fill('<', 80 * KB),
    '80 kB of HTML tags': () => fill('<u>a', 80 * KB),
    '80 kB of dollars': () => fill('$', 80 * KB),
    '80 kB of half maths': () => fill('$a ', 80 * KB),
    '80 kB of backticks': () => `a${fill('`', 80 * KB)}`,
    // Doubling the size quadruples the time, and the whole input is read in one step.
    'backticks of all lengths': () =>
      each(Math.ceil(400 * share), (_, index) => `e${'`'.repeat(index)}`, ''),
    '80 kB of spoiler bars': () => fill('||a|| ', 80 * KB),
    '80 kB of mentions': () => fill('@everyone', 80 * KB),
    'an address of references': () => `http://a.b/${fill('&a;', 80 * KB)}`,
    '1 MB of joined emoji': () => `a${'👩‍👩‍👧'.repeat(40 * KB)}b`,
    '1 MB of combining marks on one letter': () => `a${'\u0301'.repeat(MB / 2)}`,
  };
}

const TELEGRAM: PrintedTarget = { dialect: 'telegram', maxLength: 4_096, unit: 'utf16' };
const OTHERS: PrintedTarget[] = [
  { dialect: 'discord', maxLength: 2_000, unit: 'codepoint' },
  { dialect: 'whatsapp', maxLength: 4_096, unit: 'codepoint' },
  { dialect: 'slack', maxLength: 4_000, unit: 'utf16' },
  { dialect: 'google-chat', maxLength: 30_000, unit: 'byte' },
  { dialect: 'teams', maxLength: 12_000, unit: 'utf16' },
  { dialect: 'gfm', maxLength: 65_536, unit: 'utf16' },
  { dialect: 'plain', maxLength: 4_096, unit: 'byte' },
  { dialect: 'html', maxLength: 16_000, unit: 'utf16' },
];
/**
 * At night, inputs are as large as a model could make them; when a change is checked, a fifth of
 * that.
 */
const SIZE = scaleRunCount(100) / 100;
const WHOLE = Object.entries(hostileInputs(SIZE));
/** All dialects share parser and splitter, so less text is enough to show a slow printer. */
const SHARE = Object.entries(hostileInputs(isFullRun() ? 0.05 : 0.02));
/**
 * The longest allowed step, in ms of processor time: far more than a step takes, because test
 * machines are slow, and far less than rendering without steps.
 */
const MAX_STEP = Math.max(500, 1_000 * SIZE);

/**
 * Renders step by step; returns the number of steps and the longest time that one of them blocked
 * the event loop.
 */
function renderWatched(markdown: string, target: PrintedTarget) {
  const steps = renderSteps(markdown, target);
  let longest = 0;
  for (let count = 1; ; count += 1) {
    const before = process.threadCpuUsage();
    const step = steps.next();
    const { user, system } = process.threadCpuUsage(before);
    longest = Math.max(longest, (user + system) / 1_000);
    if (step.done === true) return { parts: step.value, count, longest };
  }
}

/** The letters that people read, without characters that the renderer may add or omit. */
const letters = (text: string) => text.replaceAll(/[^\p{L}\p{M}\p{N}]/gu, '');

function expectAllOf(markdown: string, target: PrintedTarget): void {
  const { parts, count, longest } = renderWatched(markdown, target);
  expect(count).toBeGreaterThan(parts.length * 2);
  expect(longest).toBeLessThan(MAX_STEP);
  const visible = CAPABILITIES[target.dialect].counts === 'visible';
  const all = parts.flatMap(({ text, plain }) => (visible ? [plain] : [text, plain]));
  expect(all.filter((text) => measureLength(text, target.unit) > target.maxLength)).toEqual([]);
  const said = parts.map(({ plain }) => plain).join('\n');
  const words = markdown.match(/w\d+w/g);
  if (words !== null) expect(said.match(/w\d+w/g)).toEqual(words);
  else expect(letters(said) === letters(markdown)).toBe(true);
}

describe('hostile input', () => {
  // When a change is checked, every second large input runs; the tests below always render a small
  // share of each.
  it.each(WHOLE.filter((_, nth) => isDueToday(nth, 2)))(
    '[M06] is rendered completely, and each step lets other work continue: %s',
    (_, make) => {
      expectAllOf(make(), TELEGRAM);
    },
  );

  it.each(SHARE)('[M06] is shown while it is being written: %s', async (_, make) => {
    const renderer = createPrefixRenderer(TELEGRAM);
    renderer.push(make());
    await renderer.show();
    renderer.push('\n\nthe end\n\n');
    expect((await renderer.show()).at(-1)?.plain).toContain('the end');
  });
});

/**
 * When a change is checked, each input is rendered in one other dialect; at night, it is rendered
 * in all of them.
 */
const inputsOf = (target: PrintedTarget) =>
  SHARE.filter(
    (_, index) => (index + OTHERS.indexOf(target)) % OTHERS.length < scaleRunCount(OTHERS.length),
  );

describe.each(OTHERS)('hostile input for $dialect', (target) => {
  it.each(inputsOf(target))('[M06] is rendered completely: a small share of %s', (_, make) => {
    expectAllOf(make(), target);
  });
});
