import { describe, expect, it } from 'vitest';
import type { DeadDesk, DeadOrder } from '../dead-letters/dead-desk.ts';
import { deadRoutes } from './dead-routes.ts';

const orders: DeadOrder[] = [];
const asked: object[] = [];
const DESK: DeadDesk = {
  async list(page) {
    asked.push(page);
    return { letters: [], counts: { refused: 0, uncertain: 0, unanswered: 0 }, next: null };
  },
  letter: async () => null,
  async settle(order) {
    orders.push(order);
    return { results: [], next: null };
  },
};
const ask = (path: string, body?: string) =>
  deadRoutes(DESK).request(path, body === undefined ? {} : { method: 'POST', body });

describe('dead letters over HTTP', () => {
  it.each([
    ['/', { before: undefined, limit: 50 }],
    ['/?limit=5&before=9', { before: 9, limit: 5 }],
    ['/?limit=0&before=x', { before: undefined, limit: 1 }],
    ['/?limit=9999', { before: undefined, limit: 50 }],
  ])('[D06] [U03] are listed in bounded pages: %s', async (path, page) => {
    const response = await ask(path);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.json()).toMatchObject({ letters: [] });
    expect(asked.at(-1)).toEqual(page);
  });

  it.each(['/9', '/x', '/-1'])('[D06] are none at %s', async (path) => {
    expect(await (await ask(path)).json()).toEqual({ letter: null });
  });

  it('[D06] are settled as posted', async () => {
    expect((await ask('/', '{"action":"replay","letters":[3]}')).status).toBe(200);
    expect(orders.at(-1)).toEqual({ action: 'replay', letters: [3], evenTwice: false });
    await ask('/', '{"action":"drop","letters":{"after":0,"kinds":["refused"]}}');
    expect(orders.at(-1)).toMatchObject({ letters: { after: 0, kinds: ['refused'] } });
  });

  it.each([
    '',
    '{}',
    '[]',
    '{"action":"burn","letters":[1]}',
    '{"action":"drop"}',
    '{"action":"drop","letters":[]}',
    '{"action":"drop","letters":["1"]}',
    '{"action":"drop","letters":{"after":0,"kinds":[]}}',
    '{"action":"replay","letters":[1],"evenTwice":"yes"}',
  ])('[D06] are left alone for %j', async (body) => {
    const before = orders.length;
    expect((await ask('/', body)).status).toBe(400);
    expect(orders).toHaveLength(before);
  });
});
