import { describe, expect, it } from 'vitest';
import { finish } from '../steps.ts';
import { nextLine, type Position, START } from './next-line.ts';
import { cutIntoPieces } from './pieces.ts';

const positions = (markdown: string): Position[] => {
  const all: Position[] = [];
  for (const line of markdown.split('\n')) all.push(nextLine(all.at(-1) ?? START, line));
  return all;
};

const item = `1. a\n   \`\`\`js\n   ${'code;'.repeat(20)}\n   \`\`\`\n`;
const paragraph = `${'word '.repeat(200).trim()}.\n\n`;

const growing: [what: string, markdown: string][] = [
  ['paragraphs', paragraph.repeat(40)],
  ['list items with code', item.repeat(300)],
  ['a code block', `Look:\n\n\`\`\`js\n${'let a = 1;\n'.repeat(3_000)}\`\`\`\n\nThere.`],
  ['a table', `| a |\n|---|\n${'| some cell |\n'.repeat(3_000)}\nThere.`],
  ['a list', '- some item\n'.repeat(3_000)],
];

describe('placing lines one by one', () => {
  it.each(growing)('[F12] changes what a block of %s is in one direction only', (_, markdown) => {
    let last = START;
    for (const position of positions(markdown)) {
      if (!position.begins) {
        expect([last.kind, 'code', 'literal']).toContain(position.kind);
        if (last.kind !== 'markdown') expect(position.kind).toBe(last.kind);
        if (last.beginsPiece) expect(position.beginsPiece).toBe(true);
      }
      last = position;
    }
  });

  it.each(growing)('[F12] keeps the pieces of %s, however the text goes on', (_, markdown) => {
    const whole = finish(cutIntoPieces(markdown));
    const half = finish(cutIntoPieces(markdown.slice(0, markdown.length / 2)));
    expect(half.slice(0, -1)).toEqual(whole.slice(0, half.length - 1));
  });

  it('keeps a short code block with its list item in a long document', () => {
    const pieces = finish(cutIntoPieces(item.repeat(200)));
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.every(({ type }) => type === 'markdown')).toBe(true);
  });
});
