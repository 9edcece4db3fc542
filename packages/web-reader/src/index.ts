export { FETCH_LIMITS, type FetchLimits } from './fetch/fetch-resource.ts';
export type { AddressRules } from './fetch/resolve-host.ts';
export {
  createPageReader,
  type PageReaderOptions,
  type ReadPage,
  type WebPage,
} from './read-page.ts';
export { openSearch, type SearchSettings, type SearchWeb } from './search/open-search.ts';
export type { EngineDeps, SearchHit, SearchQuery } from './search/search-engine.ts';
export { WebError, type WebErrorCode } from './web-error.ts';
