import { createRequire } from 'node:module';
import type { Root } from 'mdast';

/** Markdown (GFM) to mdast, with positions. Quadratic or worse on hostile input: guard it. */
export type MarkdownParser = (markdown: string) => Root;

/**
 * Loads the Markdown parser. Synchronous, because rendering is; on demand, because it costs about
 * 30 ms and 10 MB that a process which never renders should not pay. Node caches the modules.
 */
export function loadParser(): MarkdownParser {
  const require = createRequire(import.meta.url);
  const { fromMarkdown } =
    require('mdast-util-from-markdown') as typeof import('mdast-util-from-markdown');
  const { gfmFromMarkdown } = require('mdast-util-gfm') as typeof import('mdast-util-gfm');
  const { gfm } = require('micromark-extension-gfm') as typeof import('micromark-extension-gfm');
  const extensions = [gfm({ singleTilde: false })];
  // The tokenizer finds bare addresses already; the transform searches the whole tree again.
  const mdastExtensions = gfmFromMarkdown().map(
    ({ transforms: _again, ...extension }) => extension,
  );
  return (markdown) => fromMarkdown(markdown, { extensions, mdastExtensions });
}
