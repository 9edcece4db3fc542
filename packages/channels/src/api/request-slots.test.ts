import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRequestSlots } from './request-slots.ts';

const guest = (name: string) => ({ name, owner: false });
const OWNER = { name: 'mine', owner: true };

/** Counts how many slots one client can take. */
function fill(
  slots: ReturnType<typeof createRequestSlots>,
  client: ReturnType<typeof guest>,
): number {
  for (let taken = 0; ; taken += 1) if (typeof slots.take(client) !== 'function') return taken;
}

describe('slots for API requests that wait for an answer', () => {
  it.each([
    { clients: 1, share: 450 },
    { clients: 2, share: 225 },
    { clients: 9, share: 50 },
    { clients: 100, share: 10 },
  ])('[D07] give each of $clients clients a share of $share', ({ clients, share }) => {
    const slots = createRequestSlots(clients);
    expect(fill(slots, guest('a'))).toBe(share);
    expect(slots.take(guest('a'))).toEqual({ kind: 'client', slots: share });
  });

  it('[D07] reserve fifty for owners when guests have taken all others', () => {
    const slots = createRequestSlots(3);
    expect([guest('a'), guest('b')].map((client) => fill(slots, client))).toEqual([150, 150]);
    expect(fill(slots, OWNER)).toBe(200);
    const crowded = createRequestSlots(100);
    for (let nth = 0; nth < 99; nth += 1) fill(crowded, guest(String(nth)));
    expect(crowded.take(guest('98'))).toEqual({ kind: 'all' });
    expect(fill(crowded, OWNER)).toBe(50);
  });

  it('[D07] are freed only once, however often the release function is called', () => {
    const slots = createRequestSlots(45);
    const release = slots.take(guest('a'));
    fill(slots, guest('a'));
    if (typeof release !== 'function') throw new Error('no place');
    release();
    release();
    expect(fill(slots, guest('a'))).toBe(1);
  });

  it('[D07] are available to each of up to 45 clients, whatever the other clients do', () => {
    const calls = fc.array(fc.nat({ max: 44 }), { maxLength: 2_000 });
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 45 }), calls, (clients, takers) => {
        const slots = createRequestSlots(clients);
        for (const taker of takers) slots.take(guest(String(1 + (taker % (clients - 1)))));
        expect(fill(slots, guest('0'))).toBe(Math.floor(450 / clients));
      }),
    );
  });
});
