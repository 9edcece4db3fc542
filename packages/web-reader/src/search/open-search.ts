import { cleanText } from '../page/clean-text.ts';
import { WebError } from '../web-error.ts';
import { type BraveSettings, brave } from './brave.ts';
import type { EngineDeps, SearchEngine, SearchHit, SearchQuery } from './search-engine.ts';
import { type SearxngSettings, searxng } from './searxng.ts';

/** The engines that the settings name. */
export interface SearchSettings {
  readonly searxng?: SearxngSettings | undefined;
  readonly brave?: BraveSettings | undefined;
}

/** Searches the web. Throws WebError when no engine gave results, or what `signal` fired with. */
export type SearchWeb = (query: SearchQuery, signal: AbortSignal) => Promise<readonly SearchHit[]>;

/** Longest title, address and snippet, in characters; one hit must not crowd out the others. */
const LONGEST = { title: 200, url: 500, snippet: 400 };

/**
 * Makes a search over the engines that are set up: the operator's own first, the next one when it
 * fails. Null when there is none, and then there is no search.
 */
export function openSearch(settings: SearchSettings, deps: EngineDeps): SearchWeb | null {
  const engines: readonly SearchEngine[] = [
    ...(settings.searxng === undefined ? [] : [searxng(settings.searxng, deps)]),
    ...(settings.brave === undefined ? [] : [brave(settings.brave, deps)]),
  ];
  if (engines.length === 0) return null;
  return async (query, signal) => {
    const faults: WebError[] = [];
    for (const engine of engines) {
      try {
        const hits = await engine.search(query, signal);
        return hits.filter(({ url }) => /^https?:\/\//i.test(url)).map(cleanHit);
      } catch (error) {
        if (!(error instanceof WebError)) throw error;
        faults.push(error);
      }
    }
    const message = faults.map((fault) => fault.message).join(' ');
    throw new WebError('web-search', message, faults.at(-1));
  };
}

function cleanHit({ title, url, snippet }: SearchHit): SearchHit {
  return {
    title: oneLine(withoutTags(title), LONGEST.title),
    url: oneLine(url, LONGEST.url),
    snippet: oneLine(withoutTags(snippet), LONGEST.snippet),
  };
}

/** Some engines of SearXNG leave marks of emphasis in. */
function withoutTags(text: string): string {
  return text.replace(/<\/?(?:b|strong|em|i|mark|span|br)(?:\s[^<>]{0,100})?\/?>/gi, '');
}

function oneLine(text: string, longest: number): string {
  const line = cleanText(text).replace(/\s+/g, ' ');
  return line.length <= longest ? line : `${line.slice(0, longest).toWellFormed()}…`;
}
