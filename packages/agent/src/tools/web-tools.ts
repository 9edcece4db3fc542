import { createPageReader, openSearch, type SearchSettings } from '@parley/tools/web';
import type { Tool } from './tool.ts';
import { type FetchApproval, webFetchTool } from './web-fetch.ts';
import { webSearchTool } from './web-search.ts';

/** The settings section `web`. */
export interface WebSettings {
  readonly fetch: {
    readonly enabled: boolean;
    readonly approval: FetchApproval;
    readonly ports: readonly number[];
    readonly seconds: number;
    readonly maxMb: number;
    readonly maxCharacters: number;
  };
  readonly search: SearchSettings & { readonly results: number };
}

/** The tools for the web that the settings allow: what is switched off or not set up is not offered. */
export function webTools({ fetch: pages, search: engines }: WebSettings): readonly Tool[] {
  const { approval, ports, seconds, maxMb, maxCharacters } = pages;
  const limits = { ports, timeoutMs: seconds * 1_000, maxBytes: maxMb * 1_000_000 };
  const search = openSearch(engines, { fetch: globalThis.fetch });
  return [
    ...(search === null ? [] : [webSearchTool({ search, results: engines.results })]),
    ...(pages.enabled
      ? [webFetchTool({ readPage: createPageReader({ limits }), maxCharacters, approval })]
      : []),
  ];
}
