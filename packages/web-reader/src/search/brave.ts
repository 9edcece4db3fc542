import { z } from 'zod';
import { WebError } from '../web-error.ts';
import { askEngine } from './ask-engine.ts';
import type { EngineDeps, SearchEngine } from './search-engine.ts';

/** Brave Search: the settings section `web.search.brave`. */
export interface BraveSettings {
  readonly apiKey: string;
  /** Absent: Brave’s own; tests have another. */
  readonly baseUrl?: string | undefined;
}

/** Without results there is no `web` at all. */
const Answer = z.object({
  type: z.literal('search'),
  web: z
    .object({
      results: z.array(
        z.object({
          url: z.string(),
          title: z.string().nullish(),
          description: z.string().nullish(),
        }),
      ),
    })
    .nullish(),
});

const BASE_URL = 'https://api.search.brave.com';
const SETTINGS = 'web.search.brave';
/** More it does not give at a time. */
const MOST = 20;

/** Searches with Brave, which has an index of its own and wants a key. */
export function brave(
  { apiKey, baseUrl = BASE_URL }: BraveSettings,
  deps: EngineDeps,
): SearchEngine {
  return {
    name: 'Brave Search',
    async search({ words, results }, signal) {
      const url = new URL('/res/v1/web/search', baseUrl);
      url.searchParams.set('q', words);
      url.searchParams.set('count', String(Math.min(results, MOST)));
      // Without it, the words that were looked for stand between HTML tags.
      url.searchParams.set('text_decorations', 'false');
      url.searchParams.set('result_filter', 'web');
      const meaning = { 422: `it refused the key or the question; check ${SETTINGS}.apiKey` };
      const headers = { 'x-subscription-token': apiKey };
      const asked = { name: 'Brave Search', settings: SETTINGS, url, headers, meaning };
      const answer = Answer.safeParse(await askEngine(asked, deps, signal));
      if (!answer.success) {
        throw new WebError(
          'web-search',
          `Brave Search answered with something else than results; check ${SETTINGS}.`,
        );
      }
      return (answer.data.web?.results ?? []).slice(0, results).map((hit) => ({
        title: hit.title ?? '',
        url: hit.url,
        snippet: hit.description ?? '',
      }));
    },
  };
}
