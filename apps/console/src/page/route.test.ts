import { describe, expect, it } from 'vitest';
import { hrefOf, type Route, routeOf } from './route.ts';

describe('the address of what the page shows', () => {
  it.each<[string, Route]>([
    ['', { view: 'chat' }],
    ['#/', { view: 'chat' }],
    ['#/nowhere', { view: 'chat' }],
    ['#/preview', { view: 'preview' }],
    ['#/heartbeat', { view: 'heartbeat' }],
    ['#/queue', { view: 'queue' }],
    ['#/audit', { view: 'audit' }],
    ['#/why', { view: 'why', message: null }],
    ['#/why/telegram%3A42%2F7', { view: 'why', message: 'telegram:42/7' }],
    ['#/soul', { view: 'soul', version: null }],
    ['#/soul/3', { view: 'soul', version: 3 }],
    ['#/soul/x', { view: 'soul', version: null }],
    ['#/prompt', { view: 'prompt', turn: null, against: null }],
    ['#/prompt/turn_1', { view: 'prompt', turn: 'turn_1', against: null }],
    ['#/prompt/a/against/b', { view: 'prompt', turn: 'a', against: 'b' }],
    ['#/prompt/a/against', { view: 'prompt', turn: 'a', against: null }],
    ['#/prompt/%E0%A4', { view: 'prompt', turn: '%E0%A4', against: null }],
  ])('[U03] %s is read', (hash, route) => {
    expect(routeOf(hash)).toEqual(route);
  });

  it('[U03] comes back from the link that was made for it, whatever an id holds', () => {
    for (const turn of ['turn_x', 'a/b', 'ä %20#?', '..']) {
      const route: Route = { view: 'prompt', turn, against: 'c/d' };
      expect(routeOf(hrefOf(route))).toEqual(route);
    }
    expect(routeOf(hrefOf({ view: 'chat' }))).toEqual({ view: 'chat' });
    const why: Route = { view: 'why', message: 'web/default:a/b' };
    expect(routeOf(hrefOf(why))).toEqual(why);
  });
});
