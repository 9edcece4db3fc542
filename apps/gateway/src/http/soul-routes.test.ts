import { ParleyError } from '@parley/contracts';
import { describe, expect, it } from 'vitest';
import { type SoulPage, soulRoutes } from './soul-routes.ts';

const done: string[] = [];
const PAGE: SoulPage = {
  list: async () => ({ versions: [] }),
  async act(number, action) {
    if (number === 9) {
      throw new ParleyError({ code: 'soul', message: 'There is no version 9.', retryable: false });
    }
    done.push(`${action} ${number}`);
    return { number };
  },
};
const ask = (path: string, method = 'POST') => soulRoutes(PAGE).request(path, { method });

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
