import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** An answer as written by a model. */
export interface SampleAnswer {
  /** The file name in `answers/`, used for anchors on the page. */
  readonly id: string;
  readonly title: string;
  /** What to look at in this answer. */
  readonly look: string;
  readonly markdown: string;
}

const ANSWERS: readonly (readonly [id: string, title: string, look: string])[] = [
  ['everyday', 'Everyday answer', 'What people get most: a few lines, marks, a list.'],
  ['how-to', 'How-to with nested steps', 'Steps inside steps, code inside steps, headings.'],
  ['comparison', 'Comparison', 'Tables that fit a telephone; columns to the right stay there.'],
  ['tables', 'Difficult tables', 'Too wide, twelve columns, wide characters, escaped pipes.'],
  ['recipe', 'Recipe', 'Bullets, numbers, fractions, a second line in a step.'],
  ['code-review', 'Code review', 'Backticks in code, fences in lists, a fence in a fence.'],
  [
    'config-and-logs',
    'Configuration and logs',
    'Lines wider than a telephone, three kinds of code.',
  ],
  ['maths', 'Maths', 'Formulas keep every character; prices are not formulas.'],
  ['arabic-and-hebrew', 'Arabic and Hebrew', 'Each line runs its own way; code runs to the right.'],
  ['chinese', 'Chinese', 'Marks that touch wide characters; tables of them.'],
  ['news', 'News with links', 'Links, bare addresses, footnotes, addresses nobody can open.'],
  ['plan', 'Plan with tasks', 'Ticked and open boxes, numbers below them.'],
  ['quoted-mail', 'Quoted mail', 'List, code and another quote inside a quote.'],
  ['sloppy', 'Sloppy marks', 'Unclosed marks and fences, stars that mean times.'],
  ['signs', 'Signs that are no marks', 'Products, powers, files and names keep every sign.'],
  ['as-written', 'As it was written', 'Paths, patterns, comparisons, prompts, numbers of answers.'],
  ['html', 'HTML in the answer', 'Shown as written, all but underline and line breaks.'],
  ['marks', 'Every mark', 'Bold, italic, struck, underlined, hidden, and all of them nested.'],
  ['mentions', 'Mentions', 'Nobody may be pinged; everything stays readable.'],
  ['nesting', 'Deep nesting', 'Nine levels on a narrow screen, tables and code inside.'],
  ['images', 'Images', 'They become links with their description.'],
  ['long-guide', 'Long guide', 'Several messages: where they are cut, what opens again.'],
];

/** All answers, in the order of the page. */
export function readAnswers(): SampleAnswer[] {
  return ANSWERS.map(([id, title, look]) => ({
    id,
    title,
    look,
    markdown: readFileSync(join(import.meta.dirname, 'answers', `${id}.md`), 'utf8'),
  }));
}
