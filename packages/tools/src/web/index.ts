export type { AddressRules } from './addresses.ts';
export { WebError, type WebErrorCode } from './addresses.ts';
export { FETCH_LIMITS, type FetchLimits } from './fetch.ts';
export {
  createPageReader,
  type PageReaderOptions,
  type ReadPage,
  type WebPage,
} from './read-page.ts';
export type { EngineDeps, SearchHit, SearchQuery } from './search.ts';
export { openSearch, type SearchSettings, type SearchWeb } from './search.ts';
