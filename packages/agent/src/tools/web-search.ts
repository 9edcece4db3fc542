import { type SearchWeb, WebError } from '@parley/tools/web';
import { z } from 'zod';
import { defineTool, type Tool } from './tool.ts';

/** How the web is searched. */
export interface WebSearchDeps {
  readonly search: SearchWeb;
  /** How many are shown, unless the model asks for fewer. */
  readonly results: number;
}

/** All results together: title, address and snippet of each are bounded, in characters. */
const MOST = 25_000;

/** Searches the web with the engines of the settings (G02); not offered without one. */
export function webSearchTool({ search, results }: WebSearchDeps): Tool {
  return defineTool({
    name: 'web_search',
    summary: 'Searches the web.',
    hint: 'For what you do not know or what may have changed. Snippets are short: web_fetch reads a page whole.',
    tier: 'middleware',
    effect: 'read',
    audience: 'everyone',
    approval: 'never',
    foreign: true,
    limits: { characters: MOST },
    input: z.object({
      query: z.string().min(1).max(400).describe('As you would type it into a search engine.'),
      results: z.int().min(1).max(results).optional().describe(`At most; ${results} when absent.`),
    }),
    async run({ query, results: wanted = results }, { signal }) {
      try {
        const hits = await search({ words: query, results: wanted }, signal);
        if (hits.length === 0) return { text: '', note: 'Nothing was found. Try other words.' };
        const lines = hits.map(({ title, url, snippet }, index) =>
          [
            `${index + 1}. ${title || '(no title)'}`,
            `   ${url}`,
            ...(snippet === '' ? [] : [`   ${snippet}`]),
          ].join('\n'),
        );
        return { text: lines.join('\n\n') };
      } catch (error) {
        if (!(error instanceof WebError)) throw error;
        return { text: '', note: error.message, failed: true };
      }
    },
  });
}
