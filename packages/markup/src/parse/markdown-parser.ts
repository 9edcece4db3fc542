import type { Root } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { emphasis } from './emphasis.ts';
import { mathsBlock } from './maths-block.ts';
import { bracketMaths } from './maths-brackets.ts';
import { dollarMaths } from './maths-dollars.ts';
import { mathsTree } from './maths-tree.ts';
import type { Construct, SyntaxExtension } from './syntax.ts';

const CODE = { dollar: 36, asterisk: 42, backslash: 92 } as const;

/** Syntax that the parser looks for at every word, though few texts have all of it. */
const ADDRESSES: readonly { readonly construct: string; readonly sign: RegExp }[] = [
  { construct: 'emailAutolink', sign: /@/ },
  { construct: 'protocolAutolink', sign: /https?:/i },
  { construct: 'wwwAutolink', sign: /www\./i },
];
const GFM = gfm({ singleTilde: false });
/** Without the kinds of addresses whose bits are set. */
const GFM_WITHOUT = Array.from({ length: 2 ** ADDRESSES.length }, (_, bits) =>
  without(ADDRESSES.filter((_address, index) => (bits >> index) % 2 === 1)),
);
const TREE = [
  // The tokenizer finds bare addresses already; the transform searches the whole tree again.
  ...gfmFromMarkdown().map(({ transforms: _again, ...extension }) => extension),
  mathsTree,
];

/** Parses Markdown (GFM, with maths) to mdast, with positions. Quadratic or worse on hostile input: guard it. */
export function parse(markdown: string): Root {
  const idle = ADDRESSES.map(({ sign }, index) => (sign.test(markdown) ? 0 : 2 ** index));
  const extension = GFM_WITHOUT[idle.reduce((sum, bit) => sum + bit, 0)] ?? GFM;
  return fromMarkdown(markdown, { extensions: [extension, ownSyntax()], mdastExtensions: TREE });
}

/** Made for each parse, because the constructs remember what they searched. */
function ownSyntax(): SyntaxExtension {
  return {
    flow: { [CODE.dollar]: mathsBlock, [CODE.backslash]: mathsBlock },
    text: {
      [CODE.dollar]: dollarMaths(),
      [CODE.asterisk]: emphasis,
      [CODE.backslash]: bracketMaths(),
    },
  };
}

function without(addresses: typeof ADDRESSES): SyntaxExtension {
  const names = new Set(addresses.map(({ construct }) => construct));
  const text: Record<string, Construct[]> = {};
  for (const [code, constructs] of Object.entries(GFM.text ?? {})) {
    const kept = [constructs ?? []].flat().filter(({ name }) => !names.has(name ?? ''));
    if (kept.length > 0) text[code] = kept;
  }
  return { ...GFM, text };
}
