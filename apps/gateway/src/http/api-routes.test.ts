import { ParleyError } from '@parley/core';
import { describe, expect, it } from 'vitest';
import type { ShownSoul } from './api.ts';
import { endRoutes, type SoulPage, soulRoutes } from './api-routes.ts';

const done: string[] = [];
const VERSION: ShownSoul = {
  number: 3,
  name: 'v3',
  origin: '',
  reason: '',
  state: 'passed',
  status: '',
  score: '',
  findings: [],
  diff: '',
  text: '',
  createdAt: 0,
  made: '',
  basedOn: 0,
  can: [],
};
const PAGE: SoulPage = {
  list: async () => ({ versions: [] }),
  get: async () => VERSION,
  async act(number, action) {
    if (number === 9) {
      throw new ParleyError({ code: 'soul', message: 'There is no version 9.', retryable: false });
    }
    done.push(`${action} ${number}`);
    return VERSION;
  },
  async propose({ text }, by) {
    done.push(`${text} by ${by}`);
    return VERSION;
  },
};
const ask = (path: string, method = 'POST', body?: string) =>
  soulRoutes(() => PAGE).request(path, { method, ...(body !== undefined && { body }) });

describe('SOUL.md over HTTP', () => {
  it('[U03] [W06] gives the versions, and keeps them out of every cache', async () => {
    const response = await ask('/', 'GET');
    expect(await response.json()).toEqual({ versions: [] });
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  it.each(['apply', 'veto', 'rollback'])('[W06] does what is posted: %s', async (action) => {
    expect((await ask(`/3/${action}`)).status).toBe(200);
    expect(done.at(-1)).toBe(`${action} 3`);
  });

  it('[W06] takes a proposal, and nothing else in its place', async () => {
    expect((await ask('/', 'POST', '{"text":"Be kind.","reason":"kinder"}')).status).toBe(200);
    expect(done.at(-1)).toBe('Be kind. by the command line');
    expect((await ask('/', 'POST', '{"text":7}')).status).toBe(400);
  });

  it.each([
    ['/9/apply', 'POST', 400],
    ['/3/dance', 'POST', 404],
    ['/-1/apply', 'POST', 404],
    ['/1.5/apply', 'POST', 404],
    ['/x/apply', 'POST', 404],
    ['/3/apply', 'GET', 404],
  ])('[W06] does nothing else: %s by %s', async (path, method, status) => {
    const before = done.length;
    expect((await ask(path, method)).status).toBe(status);
    expect(done).toHaveLength(before);
  });
});

describe('the request to end', () => {
  it('is answered before anything ends', async () => {
    let isEnding = false;
    const app = endRoutes(() => {
      isEnding = true;
    });
    const { status } = await app.request('/', { method: 'POST' });
    expect([status, isEnding]).toEqual([202, true]);
    expect((await app.request('/')).status).toBe(404);
  });
});
