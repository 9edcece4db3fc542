import { createRequire } from 'node:module';
import type { parse } from './markdown-parser.ts';

/** Markdown (GFM, with maths) to mdast, with positions. Quadratic or worse on hostile input: guard it. */
export type MarkdownParser = typeof parse;

/**
 * Loads the Markdown parser. Synchronous, because rendering is; on demand, because it costs about
 * 30 ms and 10 MB that a process which never renders should not pay. Node caches the module.
 */
export function loadParser(): MarkdownParser {
  const require = createRequire(import.meta.url);
  const loaded = require('./markdown-parser.ts') as typeof import('./markdown-parser.ts');
  return loaded.parse;
}
