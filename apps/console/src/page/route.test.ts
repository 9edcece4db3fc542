import { describe, expect, it } from 'vitest';
import { hrefOf, type Route, routeOf } from './route.ts';

describe('the address of what the page shows', () => {
  it.each<[string, Route]>([
    ['', { view: 'chat', args: [] }],
    ['#/', { view: 'chat', args: [] }],
    ['#/queue', { view: 'queue', args: [] }],
    ['#/why/telegram%3A42%2F7', { view: 'why', args: ['telegram:42/7'] }],
    ['#/prompt/a/against/b', { view: 'prompt', args: ['a', 'against', 'b'] }],
    ['#/prompt/%E0%A4', { view: 'prompt', args: ['%E0%A4'] }],
  ])('[U03] %s is read', (hash, route) => {
    expect(routeOf(hash)).toEqual(route);
  });

  it('[U03] comes back from the link that was made for it, whatever an id holds', () => {
    for (const id of ['turn_x', 'a/b', 'ä %20#?', '..', 'web/default:a/b'])
      expect(routeOf(hrefOf('prompt', id, 'c/d'))).toEqual({ view: 'prompt', args: [id, 'c/d'] });
    expect(routeOf(hrefOf('chat'))).toEqual({ view: 'chat', args: [] });
  });
});
