/** One result of a search. All of it was written by strangers. */
export interface SearchHit {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

/** What is searched for. */
export interface SearchQuery {
  readonly words: string;
  /** At most this many results. */
  readonly results: number;
}

/** A search engine that can be asked. Its `search` throws WebError, or what `signal` fired with. */
export interface SearchEngine {
  /** For people and the log. */
  readonly name: string;
  search(query: SearchQuery, signal: AbortSignal): Promise<readonly SearchHit[]>;
}

/** How engines are reached. */
export interface EngineDeps {
  readonly fetch: typeof globalThis.fetch;
  /** Longest time for one request, in ms; 15 s when absent. */
  readonly timeoutMs?: number;
}
