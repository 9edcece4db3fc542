export type { AddressRules } from './addresses.ts';
export { WebError } from './addresses.ts';
export { type FetchPublic, fetchPublic } from './public-fetch.ts';
export { createPageReader, type ReadPage, type WebPage } from './read-page.ts';
export { openSearch, type SearchSettings, type SearchWeb } from './search.ts';
