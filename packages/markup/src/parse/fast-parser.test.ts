import { scaleRunCount, toRunOptions } from '@parley/core/testing';
import fc from 'fast-check';
import type { Nodes } from 'mdast';
import { describe, expect, it } from 'vitest';
import { parseQuickTree } from './fast-parser.ts';
import { parseSyntax } from './parse.ts';

const USUAL = [
  ...['a', 'Zoë', 'да', '你好', 'No', 'b c', ' ', ', ', '. ', '1', '12.', '?', '!', ' & ', ' < '],
  ...['"', "'s", '(', ')', ':', ';', '-', ' - ', '…', '%', '。', '/', '+', '😀', '|', '$', 'a_b'],
  ...['**', '*', '**', '*', '`', '`', '**x**', '*y z*', '`code`', '**`c`**', '(**d**).'],
  ...[
    '\n',
    '\n\n',
    '\n\n',
    '\n- ',
    '\n- ',
    '\n* ',
    '\n1. ',
    '\n2. ',
    '\n\n- ',
    '\n\n1. ',
    '\n\n2. ',
  ],
  ...['\n\n# ', '\n## ', '\n\n---\n\n', '\n\n```js\n', '\n```\n', '\n```\n\n', '\n\n\n'],
];
const OTHER = [
  ...[
    '  \n',
    '\n---',
    '\n===',
    '\n    ',
    '\n  - ',
    '\n   ',
    '\n-\n',
    '\n1.\n',
    '\n1) ',
    '\n+ ',
    '- ',
  ],
  ...[
    'http://',
    'www.',
    'mailto:',
    '\u2028',
    'x@y.org',
    '@',
    '_',
    '__',
    '~',
    '~~',
    '\\',
    '\\(',
    '$$',
  ],
  ...[
    '&amp;',
    '&',
    '<b>',
    '<',
    '>',
    '\n> ',
    '[',
    ']',
    '[a]: b',
    '[ ] ',
    '![',
    '||',
    '\n|-|-|\n',
    ':-',
  ],
  ...[
    '\t',
    '\r',
    '\0',
    '\ufeff',
    '=',
    '^',
    '{',
    '#',
    ' #',
    '\n#',
    '\n``` x\n',
    '````',
    '``',
    '\n~~~\n',
  ],
  ...['\n:-: | -\n', '\n- | -\n', '***', '「', '」', '”', '\u00a0', '\u200b', '\n\u00a0', '\n \n'],
];
/** Ordinary text with one sequence that may have a special meaning. */
const textWith = (other: string) =>
  fc
    .array(fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...USUAL) }, fc.constant(other)), {
      maxLength: 12,
    })
    .map((pieces) => pieces.join(''));

describe('Simple Markdown', () => {
  it('is parsed to the same tree as by the full parser, whatever the text', () => {
    let read = 0;
    for (const other of OTHER) {
      fc.assert(
        fc.property(textWith(other), (markdown) => {
          const tree = parseQuickTree(markdown);
          if (tree === undefined) return;
          read += 1;
          expect(tree).toEqual(withoutInlinePositions(parseSyntax(markdown)));
        }),
        toRunOptions(300),
      );
    }
    expect(read).toBeGreaterThan(scaleRunCount(1_000));
  });

  it('includes typical chat answers of a model', () => {
    for (const answer of ANSWERS) {
      const tree = parseQuickTree(answer);
      expect(tree).toEqual(withoutInlinePositions(parseSyntax(answer)));
    }
    expect(parseQuickTree('See www.example.org')).toBeUndefined();
  });
});

const ANSWERS = [
  "Sure: I moved it to 10.30 (Tuesday).\n\nAnything else?\nTell me, it's no trouble!",
  'Sure: **two things** are on today, the *dentist* at 10:30 and a call with `ops` at 15:00. Which?',
  'You have **3 < 4** meetings 😀:\n\n1. **09:00** Standup\n2. **11:00**: Review\n\nCosts $5 & more.',
  '## Steps\n\nRun this:\n```sh\nnpm install && echo $PATH > [a]\n\n```\n- **`lock.json`** is `old`\n- Push\n',
  'First.\n\n- One\n\n- Two, *loose*\n\n---\n\n“Quoted” text.\n',
];

/**
 * Removes the positions of inlines, which the fast parser does not compute because they are not
 * needed.
 */
function withoutInlinePositions(node: Nodes, isInline = false): unknown {
  const { position, ...rest } = node;
  const isParent = node.type === 'paragraph' || node.type === 'heading' || isInline;
  return {
    ...rest,
    ...(!isInline && node.type !== 'root' && { position }),
    ...('children' in node && {
      children: node.children.map((child) => withoutInlinePositions(child, isParent)),
    }),
  };
}
