import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPlaces } from './places.ts';

const guest = (name: string) => ({ name, owner: false });
const OWNER = { name: 'mine', owner: true };

/** How many places one client gets. */
function fill(places: ReturnType<typeof createPlaces>, client: ReturnType<typeof guest>): number {
  for (let taken = 0; ; taken += 1) if (typeof places.take(client) !== 'function') return taken;
}

describe('the places of API requests that wait for an answer', () => {
  it.each([
    { clients: 1, share: 450 },
    { clients: 2, share: 225 },
    { clients: 9, share: 50 },
    { clients: 100, share: 10 },
  ])('[D07] of $clients clients each has a share of $share', ({ clients, share }) => {
    const places = createPlaces(clients);
    expect(fill(places, guest('a'))).toBe(share);
    expect(places.take(guest('a'))).toEqual({ kind: 'client', places: share });
  });

  it('[D07] that all guests have taken leave fifty for owners', () => {
    const places = createPlaces(3);
    expect([guest('a'), guest('b')].map((client) => fill(places, client))).toEqual([150, 150]);
    expect(fill(places, OWNER)).toBe(200);
    const crowded = createPlaces(100);
    for (let nth = 0; nth < 99; nth += 1) fill(crowded, guest(String(nth)));
    expect(crowded.take(guest('98'))).toEqual({ kind: 'all' });
    expect(fill(crowded, OWNER)).toBe(50);
  });

  it('[D07] are free again once, however often they are released', () => {
    const places = createPlaces(45);
    const release = places.take(guest('a'));
    fill(places, guest('a'));
    if (typeof release !== 'function') throw new Error('no place');
    release();
    release();
    expect(fill(places, guest('a'))).toBe(1);
  });

  it('[D07] are there for each of up to 45 clients, whatever the others do', () => {
    const calls = fc.array(fc.nat({ max: 44 }), { maxLength: 2_000 });
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 45 }), calls, (clients, takers) => {
        const places = createPlaces(clients);
        for (const taker of takers) places.take(guest(String(1 + (taker % (clients - 1)))));
        expect(fill(places, guest('0'))).toBe(Math.floor(450 / clients));
      }),
    );
  });
});
