import type { Root } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { quickAddresses } from './addresses.ts';
import { emphasis } from './emphasis.ts';
import { escapedBar, escapedBarTree } from './escaped-bar.ts';
import { mathsBlock } from './maths-block.ts';
import { bracketMaths } from './maths-brackets.ts';
import { dollarMaths } from './maths-dollars.ts';
import { mathsTree } from './maths-tree.ts';
import { quickTree } from './quick-tree.ts';
import type { SyntaxExtension } from './syntax.ts';

const CODE = { dollar: 36, asterisk: 42, backslash: 92 } as const;

const gfmFor = quickAddresses(gfm({ singleTilde: false }));
const TREE = [
  // The tokenizer finds bare addresses already; the transform searches the whole tree again.
  ...gfmFromMarkdown().map(({ transforms: _again, ...extension }) => extension),
  mathsTree,
  escapedBarTree,
];

/** Parses as `parseTree` does; passed in where a test counts what is parsed. */
export type MarkdownParser = typeof parseTree;

/** Parses Markdown (GFM, with maths) to mdast, with positions. Quadratic or worse on hostile input: guard it. */
export function parseTree(markdown: string): Root {
  return quickTree(markdown) ?? parseSyntax(markdown);
}

/** Parses any Markdown; for what `quickTree` can read it takes ten times as long. */
export function parseSyntax(markdown: string): Root {
  const extensions = [gfmFor(markdown), ownSyntax()];
  return fromMarkdown(markdown, { extensions, mdastExtensions: TREE });
}

/** Made for each parse, because the constructs remember what they searched. */
function ownSyntax(): SyntaxExtension {
  return {
    flow: { [CODE.dollar]: mathsBlock, [CODE.backslash]: mathsBlock },
    text: {
      [CODE.dollar]: dollarMaths(),
      [CODE.asterisk]: emphasis,
      [CODE.backslash]: [bracketMaths(), escapedBar],
    },
  };
}
