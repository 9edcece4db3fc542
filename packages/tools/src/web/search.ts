import { reasonOf } from '@parley/core';
import { z } from 'zod';
import { WebError } from './addresses.ts';
import { cleanText } from './text.ts';

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
interface SearchEngine {
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

/** One question to a search engine. */
interface EngineRequest {
  /** For people, such as `Brave Search`. */
  readonly name: string;
  /** Where its settings are. */
  readonly settings: string;
  readonly url: URL;
  /** Keys go here and never into the address. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What a status means to this engine, where it is something of its own. */
  readonly meaning?: Readonly<Record<number, string>>;
}

const TIMEOUT_MS = 15_000;
const MAX_BYTES = 2_000_000;

/**
 * Asks an engine and gives its JSON. Redirects are not followed: they would carry the key elsewhere.
 * Throws WebError in words that say what to fix and never hold the key or what the engine sent.
 */
async function askEngine(
  { name, settings, url, headers, meaning }: EngineRequest,
  { fetch, timeoutMs = TIMEOUT_MS }: EngineDeps,
  signal: AbortSignal,
): Promise<unknown> {
  const slow = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      headers: { accept: 'application/json', ...headers },
      redirect: 'manual',
      signal: AbortSignal.any([signal, slow]),
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw refusalOf(name, settings, response, meaning);
    }
    return parsed(await textOf(response, name), name, settings);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof WebError) throw error;
    const why = slow.aborted
      ? `did not answer within ${timeoutMs / 1_000} s`
      : `cannot be reached (${causeOf(error)})`;
    throw new WebError(
      'web-search',
      `${name} ${why}; its address and key are in ${settings}.`,
      error,
    );
  }
}

async function textOf({ body }: Response, name: string): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_BYTES) throw new WebError('web-search', `The answer of ${name} is too large.`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function parsed(text: string, name: string, settings: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw unexpected(name, settings, cause);
  }
}

function unexpected(name: string, settings: string, cause?: unknown): WebError {
  const message = `${name} answered with something else than results; check ${settings}.`;
  return new WebError('web-search', message, cause);
}

function refusalOf(
  name: string,
  settings: string,
  { status, headers }: Response,
  meaning: EngineRequest['meaning'] = {},
): WebError {
  const usual: Readonly<Record<number, string>> = {
    401: `it refused the key; check ${settings}`,
    403: `it refused the key; check ${settings}`,
    404: `there is no search at this address; check ${settings}`,
    429: `it is asked too often${waitOf(headers)}`,
  };
  const why =
    meaning[status] ??
    usual[status] ??
    (status >= 500 ? 'it has a problem; try later' : `check ${settings}`);
  return new WebError('web-search', `${name} answered with status ${status}: ${why}.`);
}

function waitOf(headers: Headers): string {
  const seconds = Number(headers.get('retry-after'));
  return seconds > 0 ? `; try again in ${seconds} s` : '; try again later';
}

/** `fetch` says no more than "fetch failed"; why is in its cause. */
function causeOf(thrown: unknown): string {
  const deeper = thrown instanceof Error ? thrown.cause : undefined;
  return reasonOf(deeper ?? thrown) || 'the connection failed';
}

/** A SearXNG instance: the settings section `web.search.searxng`. */
interface SearxngSettings {
  /** May lie in the operator's own network: the operator named it, nobody else can. */
  readonly baseUrl: string;
  /** Such as `de` or `zh-CN`; absent: as the instance is set. */
  readonly language?: string | undefined;
}

const SearxngResponse = z.object({
  results: z.array(
    z.object({ url: z.string(), title: z.string().nullish(), content: z.string().nullish() }),
  ),
  /** Pairs of an engine and why it did not answer. */
  unresponsive_engines: z.array(z.unknown()).default([]),
});

const SEARXNG_SETTINGS = 'web.search.searxng';

/** Searches with SearXNG, which asks other engines and can be run by anybody. */
function searxng({ baseUrl, language }: SearxngSettings, deps: EngineDeps): SearchEngine {
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
        { name: 'SearXNG', settings: SEARXNG_SETTINGS, url, meaning },
        deps,
        signal,
      );
      const answer = SearxngResponse.safeParse(json);
      if (!answer.success) throw unexpected('SearXNG', SEARXNG_SETTINGS);
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

/** Brave Search: the settings section `web.search.brave`. */
interface BraveSettings {
  readonly apiKey: string;
  /** Absent: Brave’s own; tests have another. */
  readonly baseUrl?: string | undefined;
}

/** Without results there is no `web` at all. */
const BraveResponse = z.object({
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

const BRAVE_URL = 'https://api.search.brave.com';
const BRAVE_SETTINGS = 'web.search.brave';
/** More it does not give at a time. */
const BRAVE_MOST = 20;

/** Searches with Brave, which has an index of its own and wants a key. */
function brave({ apiKey, baseUrl = BRAVE_URL }: BraveSettings, deps: EngineDeps): SearchEngine {
  return {
    name: 'Brave Search',
    async search({ words, results }, signal) {
      const url = new URL('/res/v1/web/search', baseUrl);
      url.searchParams.set('q', words);
      url.searchParams.set('count', String(Math.min(results, BRAVE_MOST)));
      // Without it, the words that were looked for stand between HTML tags.
      url.searchParams.set('text_decorations', 'false');
      url.searchParams.set('result_filter', 'web');
      const meaning = { 422: `it refused the key or the question; check ${BRAVE_SETTINGS}.apiKey` };
      const headers = { 'x-subscription-token': apiKey };
      const asked = { name: 'Brave Search', settings: BRAVE_SETTINGS, url, headers, meaning };
      const answer = BraveResponse.safeParse(await askEngine(asked, deps, signal));
      if (!answer.success) throw unexpected('Brave Search', BRAVE_SETTINGS);
      return (answer.data.web?.results ?? []).slice(0, results).map((hit) => ({
        title: hit.title ?? '',
        url: hit.url,
        snippet: hit.description ?? '',
      }));
    },
  };
}
