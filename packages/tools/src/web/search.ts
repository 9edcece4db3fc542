import { describeFetchFailure } from '@parley/core';
import { z } from 'zod';
import { WebError } from './addresses.ts';
import { cleanOneLine } from './read-page.ts';

/** All fields were written by outsiders. */
export interface SearchHit {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

export interface SearchQuery {
  readonly query: string;
  /** The maximum number of results to return. */
  readonly results: number;
}

export interface EngineDeps {
  readonly fetch: typeof globalThis.fetch;
  /** The deadline of one request, in ms; 15 s when absent. */
  readonly timeoutMs?: number;
}

export interface SearchSettings {
  readonly searxng?: SearxngSettings | undefined;
  readonly brave?: BraveSettings | undefined;
}

/** Throws WebError if no engine returned results, or the abort reason of the signal. */
export type SearchWeb = (query: SearchQuery, signal: AbortSignal) => Promise<readonly SearchHit[]>;

/**
 * The maximum length of a title, URL and snippet, in characters, so that one result does not crowd
 * out the others.
 */
const MAX_LENGTHS = { title: 200, url: 500, snippet: 400 };

/**
 * Creates a search over the configured engines: the operator's own engine is queried first, and the
 * next one if it fails. Returns null if no engine is configured.
 */
export function openSearch(settings: SearchSettings, deps: EngineDeps): SearchWeb | null {
  const engines: readonly SearchWeb[] = [
    ...(settings.searxng === undefined ? [] : [createSearxngSearch(settings.searxng, deps)]),
    ...(settings.brave === undefined ? [] : [createBraveSearch(settings.brave, deps)]),
  ];
  if (engines.length === 0) return null;
  return async (query, signal) => {
    const faults: WebError[] = [];
    for (const engine of engines) {
      try {
        const hits = await engine(query, signal);
        const found = hits.slice(0, query.results);
        return found.filter(({ url }) => /^https?:\/\//i.test(url)).map(cleanSearchHit);
      } catch (error) {
        if (!(error instanceof WebError)) throw error;
        faults.push(error);
      }
    }
    const message = faults.map((fault) => fault.message).join(' ');
    throw new WebError('web-search', message, faults.at(-1));
  };
}

function cleanSearchHit({ title, url, snippet }: SearchHit): SearchHit {
  return {
    title: toShortLine(stripEmphasisTags(title), MAX_LENGTHS.title),
    url: toShortLine(url, MAX_LENGTHS.url),
    snippet: toShortLine(stripEmphasisTags(snippet), MAX_LENGTHS.snippet),
  };
}

/** Some engines behind SearXNG return emphasis tags in their text. */
function stripEmphasisTags(text: string): string {
  return text.replace(/<\/?(?:b|strong|em|i|mark|span|br)(?:\s[^<>]{0,100})?\/?>/gi, '');
}

function toShortLine(text: string, longest: number): string {
  const line = cleanOneLine(text);
  return line.length <= longest ? line : `${line.slice(0, longest).toWellFormed()}…`;
}

/** A search engine: its display name, and where its settings are. */
interface SearchEngine {
  readonly name: string;
  readonly settings: string;
  /** Explanations of status codes that differ from the generic ones. */
  readonly meaning: Readonly<Record<number, string>>;
}

interface EngineRequest<Answer> {
  readonly url: URL;
  /** API keys are sent in headers, never in the URL. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly answer: z.ZodType<Answer>;
}

const TIMEOUT_MS = 15_000;
const MAX_BYTES = 2_000_000;

/**
 * Queries an engine. Redirects are not followed, because they would send the key to another server.
 * Throws WebError, whose message states how to fix the problem and never contains the key or the
 * engine's own text.
 */
async function querySearchEngine<Answer>(
  engine: SearchEngine,
  { url, headers, answer }: EngineRequest<Answer>,
  { fetch, timeoutMs = TIMEOUT_MS }: EngineDeps,
  signal: AbortSignal,
): Promise<Answer> {
  const { name, settings } = engine;
  const slow = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      headers: { accept: 'application/json', ...headers },
      redirect: 'manual',
      signal: AbortSignal.any([signal, slow]),
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw createSearchRefusal(engine, response);
    }
    return parseEngineResponse(await readResponseText(response, name), answer, engine);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof WebError) throw error;
    const why = slow.aborted
      ? `did not answer within ${timeoutMs / 1_000} s`
      : `cannot be reached (${describeFetchFailure(error) || 'the connection failed'})`;
    throw new WebError(
      'web-search',
      `${name} ${why}; its address and key are in ${settings}.`,
      error,
    );
  }
}

async function readResponseText({ body }: Response, name: string): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_BYTES)
      throw new WebError('web-search', `The response from ${name} is too large.`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function parseEngineResponse<Answer>(
  text: string,
  answer: z.ZodType<Answer>,
  { name, settings }: SearchEngine,
): Answer {
  try {
    return answer.parse(JSON.parse(text));
  } catch (cause) {
    const message = `${name} did not answer with results; check ${settings}.`;
    throw new WebError('web-search', message, cause);
  }
}

function createSearchRefusal(
  { name, settings, meaning }: SearchEngine,
  { status, headers }: Response,
): WebError {
  const usual: Readonly<Record<number, string>> = {
    401: `it refused the key; check ${settings}`,
    403: `it refused the key; check ${settings}`,
    404: `there is no search at this address; check ${settings}`,
    429: `it receives too many requests${describeWait(headers)}`,
  };
  const why =
    meaning[status] ??
    usual[status] ??
    (status >= 500 ? 'it has an internal error; try again later' : `check ${settings}`);
  return new WebError('web-search', `${name} answered with status ${status}: ${why}.`);
}

function describeWait(headers: Headers): string {
  const seconds = Number(headers.get('retry-after'));
  return seconds > 0 ? `; try again in ${seconds} s` : '; try again later';
}

/** A SearXNG instance: the `web.search.searxng` settings section. */
interface SearxngSettings {
  /**
   * The server may be in the operator's own network, because only the operator can configure it.
   */
  readonly baseUrl: string;
  /** A language such as `de` or `zh-CN`; the instance's default when absent. */
  readonly language?: string | undefined;
}

/** A text that an engine may omit. */
const Text = z
  .string()
  .nullish()
  .transform((text) => text ?? '');

const SearxngResponse = z.object({
  results: z.array(z.object({ url: z.string(), title: Text, content: Text })),
  /** Pairs of an engine's name and the reason why it did not respond. */
  unresponsive_engines: z.array(z.unknown()).default([]),
});

const SEARXNG: SearchEngine = {
  name: 'SearXNG',
  settings: 'web.search.searxng',
  meaning: { 403: 'it does not return JSON; add json to search.formats in its settings.yml' },
};

/** Searches with SearXNG, a metasearch engine that can be self-hosted. */
function createSearxngSearch({ baseUrl, language }: SearxngSettings, deps: EngineDeps): SearchWeb {
  return async ({ query }, signal) => {
    const url = new URL(`${baseUrl.replace(/(?<!\/)\/+$/, '')}/search`);
    url.searchParams.set('q', query);
    url.searchParams.set('format', 'json');
    if (language !== undefined) url.searchParams.set('language', language);
    const asked = { url, answer: SearxngResponse };
    const { results, unresponsive_engines: silent } = await querySearchEngine(
      SEARXNG,
      asked,
      deps,
      signal,
    );
    if (results.length === 0 && silent.length > 0) {
      throw new WebError(
        'web-search',
        'SearXNG found nothing, because its engines did not answer; try again later.',
      );
    }
    return results.map(({ title, url, content: snippet }) => ({ title, url, snippet }));
  };
}

/** Brave Search: the `web.search.brave` settings section. */
interface BraveSettings {
  readonly apiKey: string;
  /** The base URL; Brave’s own when absent. */
  readonly baseUrl?: string | undefined;
}

/** `web` is missing if there are no results. */
const BraveResponse = z.object({
  type: z.literal('search'),
  web: z
    .object({ results: z.array(z.object({ url: z.string(), title: Text, description: Text })) })
    .nullish(),
});

const BRAVE_URL = 'https://api.search.brave.com';
const BRAVE: SearchEngine = {
  name: 'Brave Search',
  settings: 'web.search.brave',
  meaning: { 422: 'it refused the key or the question; check web.search.brave.apiKey' },
};
/** The maximum number of results Brave returns per request. */
const BRAVE_MOST = 20;

/** Searches with Brave, which has its own index and requires a key. */
function createBraveSearch(
  { apiKey, baseUrl = BRAVE_URL }: BraveSettings,
  deps: EngineDeps,
): SearchWeb {
  return async ({ query, results }, signal) => {
    const url = new URL('/res/v1/web/search', baseUrl);
    url.searchParams.set('q', query);
    url.searchParams.set('count', String(Math.min(results, BRAVE_MOST)));
    // Without this parameter, the search terms are wrapped in HTML tags.
    url.searchParams.set('text_decorations', 'false');
    url.searchParams.set('result_filter', 'web');
    const asked = { url, headers: { 'x-subscription-token': apiKey }, answer: BraveResponse };
    const { web } = await querySearchEngine(BRAVE, asked, deps, signal);
    const hits = web?.results ?? [];
    return hits.map(({ title, url, description: snippet }) => ({ title, url, snippet }));
  };
}
