import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSyntax } from './markdown-parser.ts';
import { plainTree } from './plain-tree.ts';

const PLAIN = [
  ...['a', 'Zoë', 'да', '你好', 'No', 'b c', ' ', ', ', '. ', '\n', '\n\n', '1', '12.', '?', '!'],
  ...['"', "'s", '(', ')', ':', ';', '-', ' - ', '…', '%', '。', '/', '+'],
];
const OTHER = [
  ...[
    '  \n',
    '\n\n\n',
    '\n---',
    '\n===',
    '\n- ',
    '\n1. ',
    '\n    ',
    'http://',
    'www.',
    'mailto:',
    '\u2028',
  ],
  ...[
    'x@y.org',
    '*',
    '_',
    '~~',
    '`',
    '$',
    '\\',
    '&amp;',
    '<b>',
    '[',
    ']',
    '|',
    '\n#',
    '\n> ',
    '\t',
    ':-',
  ],
  ...[
    '\r',
    '\0',
    '\ufeff',
    '=',
    '^',
    '{',
    '&',
    '<',
    '~',
    '#',
    '>',
    '\n```\n',
    '\n:-: | -\n',
    '\u00a0',
  ],
];
/** Plain text with one thing in it that may be more than it seems. */
const textWith = (other: string) =>
  fc
    .array(fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...PLAIN) }, fc.constant(other)), {
      maxLength: 9,
    })
    .map((pieces) => `${['a', ...pieces].join('')}b`);

describe('Plain paragraphs', () => {
  it('are the tree that the parser would make of them, whatever stands in the text', () => {
    let plain = 0;
    for (const other of OTHER) {
      fc.assert(
        fc.property(textWith(other), (markdown) => {
          const tree = plainTree(markdown);
          if (tree === undefined) return;
          plain += 1;
          expect(tree).toEqual(parseSyntax(markdown));
        }),
        { numRuns: 300 },
      );
    }
    expect(plain).toBeGreaterThan(1_000);
  });

  it('are recognised in what a model says in a chat', () => {
    const answer =
      "Sure: I moved it to 10.30 (Tuesday).\n\nAnything else?\nTell me, it's no trouble!";
    expect(plainTree(answer)).toEqual(parseSyntax(answer));
    expect(plainTree('See www.example.org')).toBeUndefined();
  });
});
