import type { RequestListener } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openSearch } from './search.ts';
import { openWebScene, type WebScene } from './testing/web-scene.ts';

const { signal } = new AbortController();
const deps = { fetch: globalThis.fetch, timeoutMs: 500 };
const KEY = 'BSA-secret-key';

async function serve(answer: RequestListener): Promise<{ scene: WebScene; baseUrl: string }> {
  const scene = await openWebScene(answer);
  onTestFinished(() => scene.close());
  return { scene, baseUrl: `http://127.0.0.1:${scene.port}` };
}
const json =
  (value: unknown, status = 200): RequestListener =>
  (_, response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));

/** A response of SearXNG to `/search?format=json`. */
const SEARXNG = {
  query: 'tea',
  number_of_results: 0,
  results: [
    {
      url: 'https://example.org/tea',
      title: 'Tea',
      content: 'All <b>about</b> tea\u202e.',
      engine: 'duckduckgo',
      parsed_url: ['https', 'example.org', '/tea', '', '', ''],
      template: 'default.html',
      engines: ['duckduckgo'],
      positions: [1],
      score: 1,
      category: 'general',
      publishedDate: null,
    },
    { url: 'https://example.org/2', title: 'Two', engine: 'brave', content: null },
    { url: 'javascript:alert(1)', title: 'Bad', content: '' },
  ],
  answers: [],
  corrections: [],
  infoboxes: [],
  suggestions: [],
  unresponsive_engines: [],
};

/** A response of Brave to `/res/v1/web/search`. */
const BRAVE = {
  type: 'search',
  query: { original: 'tea', show_strict_warning: false, more_results_available: true },
  mixed: { type: 'mixed', main: [{ type: 'web', index: 0, all: false }], top: [], side: [] },
  web: {
    type: 'search',
    results: [
      {
        title: 'Tea',
        url: 'https://example.org/tea',
        is_source_local: false,
        is_source_both: false,
        description: 'x'.repeat(1_000),
        profile: {
          name: 'Example',
          url: 'https://example.org/tea',
          long_name: 'example.org',
          img: '',
        },
        language: 'en',
        family_friendly: true,
        type: 'search_result',
        subtype: 'generic',
        meta_url: {
          scheme: 'https',
          netloc: 'example.org',
          hostname: 'example.org',
          favicon: '',
          path: '',
        },
      },
    ],
    family_friendly: true,
  },
};

describe('web search', () => {
  it('[G02] is unavailable without an engine', () => {
    expect(openSearch({}, deps)).toBeNull();
  });

  it('[G02] queries SearXNG', async () => {
    const { scene, baseUrl } = await serve(json(SEARXNG));
    const search = openSearch({ searxng: { baseUrl: `${baseUrl}/sub/`, language: 'de' } }, deps);
    expect(await search?.({ query: 'tea & cake', results: 5 }, signal)).toEqual([
      { title: 'Tea', url: 'https://example.org/tea', snippet: 'All about tea.' },
      { title: 'Two', url: 'https://example.org/2', snippet: '' },
    ]);
    expect(scene.asked[0]?.url).toBe('/sub/search?q=tea+%26+cake&format=json&language=de');
  });

  it('[G02] queries Brave with the key only in a header, and truncates long fields', async () => {
    const { scene, baseUrl } = await serve(json(BRAVE));
    const search = openSearch({ brave: { apiKey: KEY, baseUrl } }, deps);
    const hits = await search?.({ query: 'tea', results: 30 }, signal);
    expect(hits).toMatchObject([{ title: 'Tea', snippet: `${'x'.repeat(400)}…` }]);
    expect(scene.asked[0]?.headers['x-subscription-token']).toBe(KEY);
    expect(scene.asked[0]?.url).not.toContain(KEY);
    expect(scene.asked[0]?.url).toContain('count=20');
  });

  it('[G02] returns an empty list if the engine finds nothing', async () => {
    const { baseUrl } = await serve(json({ type: 'search', query: { original: 'x' } }));
    const search = openSearch({ brave: { apiKey: KEY, baseUrl } }, deps);
    expect(await search?.({ query: 'x', results: 5 }, signal)).toEqual([]);
  });

  it('[G02] tries the next engine when the first one fails', async () => {
    const down = await serve(json({}, 500));
    const up = await serve(json(BRAVE));
    const search = openSearch(
      { searxng: { baseUrl: down.baseUrl }, brave: { apiKey: KEY, baseUrl: up.baseUrl } },
      deps,
    );
    expect(await search?.({ query: 'tea', results: 5 }, signal)).toHaveLength(1);
    expect(down.scene.asked).toHaveLength(1);
  });

  it.each([
    ['brave', 422, { 'x-error': KEY }, 'web.search.brave.apiKey'],
    ['brave', 401, {}, 'web.search.brave'],
    ['brave', 429, { 'retry-after': '7' }, 'try again in 7 s'],
    ['brave', 503, {}, 'try again later'],
    ['brave', 302, { location: 'http://127.0.0.1:1/' }, 'web.search.brave'],
    ['searxng', 403, {}, 'search.formats'],
    ['searxng', 404, {}, 'no search at this address'],
    ['searxng', 429, {}, 'too many requests'],
  ] as const)(
    '[G02] explains the failure: %s, status %i',
    async (engine, status, headers, words) => {
      const body = JSON.stringify({
        type: 'ErrorResponse',
        error: { code: 'SUBSCRIPTION_TOKEN_INVALID', detail: KEY, status },
      });
      const { scene, baseUrl } = await serve((_, response) =>
        response.writeHead(status, headers).end(body),
      );
      const settings =
        engine === 'brave' ? { brave: { apiKey: KEY, baseUrl } } : { searxng: { baseUrl } };
      const found = openSearch(settings, deps)?.({ query: 'tea', results: 5 }, signal);
      const error: unknown = await found?.catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'web-search', message: expect.stringContaining(words) });
      expect(JSON.stringify([error, String(error)])).not.toContain(KEY);
      expect(scene.asked).toHaveLength(1);
    },
  );

  it.each([
    ['no JSON', '<html>'],
    ['other JSON', '{"results": 1}'],
    [
      'engines that did not answer',
      JSON.stringify({ results: [], unresponsive_engines: [['google', 'CAPTCHA']] }),
    ],
    ['far too much', ' '.repeat(3_000_000)],
  ])('[G02] fails with a reason if the engine sends %s', async (_, body) => {
    const { baseUrl } = await serve((__, response) => response.end(body));
    const found = openSearch({ searxng: { baseUrl } }, deps)?.(
      { query: 'tea', results: 5 },
      signal,
    );
    await expect(found).rejects.toMatchObject({ code: 'web-search' });
  });

  it('[G02] has a deadline, and aborts when the turn ends', async () => {
    const { baseUrl } = await serve(() => {});
    const search = openSearch({ searxng: { baseUrl } }, deps);
    await expect(search?.({ query: 'tea', results: 5 }, signal)).rejects.toMatchObject({
      message: expect.stringContaining('0.5 s'),
    });
    const stop = new AbortController();
    const found = search?.({ query: 'tea', results: 5 }, stop.signal);
    stop.abort(new Error('stopped'));
    await expect(found).rejects.toThrow('stopped');
  });
});
