import { z } from 'zod';
import { WebError } from '../web-error.ts';
import { askEngine } from './ask-engine.ts';
import type { EngineDeps, SearchEngine } from './search-engine.ts';

/** A SearXNG instance: the settings section `web.search.searxng`. */
export interface SearxngSettings {
  /** May lie in the operator's own network: the operator named it, nobody else can. */
  readonly baseUrl: string;
  /** Such as `de` or `zh-CN`; absent: as the instance is set. */
  readonly language?: string | undefined;
}

const Answer = z.object({
  results: z.array(
    z.object({ url: z.string(), title: z.string().nullish(), content: z.string().nullish() }),
  ),
  /** Pairs of an engine and why it did not answer. */
  unresponsive_engines: z.array(z.unknown()).default([]),
});

const SETTINGS = 'web.search.searxng';

/** Searches with SearXNG, which asks other engines and can be run by anybody. */
export function searxng({ baseUrl, language }: SearxngSettings, deps: EngineDeps): SearchEngine {
  return {
    name: 'SearXNG',
    async search({ words, results }, signal) {
      const url = new URL(`${baseUrl.replace(/\/+$/, '')}/search`);
      url.searchParams.set('q', words);
      url.searchParams.set('format', 'json');
      if (language !== undefined) url.searchParams.set('language', language);
      const meaning = {
        403: 'it does not give out JSON; add json to search.formats in its settings.yml',
      };
      const json = await askEngine(
        { name: 'SearXNG', settings: SETTINGS, url, meaning },
        deps,
        signal,
      );
      const answer = Answer.safeParse(json);
      if (!answer.success) throw strange();
      const { results: hits, unresponsive_engines: silent } = answer.data;
      if (hits.length === 0 && silent.length > 0) {
        throw new WebError(
          'web-search',
          'SearXNG found nothing, because the engines it asks did not answer it; try later.',
        );
      }
      return hits.slice(0, results).map((hit) => ({
        title: hit.title ?? '',
        url: hit.url,
        snippet: hit.content ?? '',
      }));
    },
  };
}

function strange(): WebError {
  return new WebError(
    'web-search',
    `SearXNG answered with something else than results; check ${SETTINGS}.`,
  );
}
