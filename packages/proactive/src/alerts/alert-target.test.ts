import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alertTarget, type KnownChat, type TargetFacts } from './alert-target.ts';

const ANN = 'telegram:1';
const chat = (id: string, more: Partial<KnownChat> = {}): KnownChat => ({
  conversationId: id,
  kind: 'direct',
  ...more,
});
const CHATS: readonly KnownChat[] = [
  chat('ann', { person: ANN, ownerWroteAt: 5 }),
  chat('ann-wa', { person: 'whatsapp:1', ownerWroteAt: 9 }),
  chat('bob', { person: 'telegram:2' }),
];
const FAMILY = chat('family', { kind: 'group', ownerWroteAt: 99 });
const OWNERS = [ANN, 'whatsapp:1'];

function said(facts: Partial<TargetFacts>) {
  const target = alertTarget({ choice: 'last', owners: OWNERS, chats: CHATS, ...facts });
  if (target.kind === 'nobody') return `nobody: ${target.reason}`;
  return target.chat.conversationId + (target.note === undefined ? '' : ` (${target.note})`);
}

describe('whom an alert goes to', () => {
  it.each<[Partial<TargetFacts>, string]>([
    [{}, 'ann-wa'],
    [{ choice: ANN }, 'ann'],
    [{ tell: { name: 'family', chat: FAMILY } }, 'family'],
    [
      { tell: { name: 'nowhere', chat: null } },
      'ann-wa (no group is called "nowhere", so the owner is told)',
    ],
    [
      { tell: { name: 'bob', chat: chat('bob') } },
      'ann-wa (no group is called "bob", so the owner is told)',
    ],
    [{ owners: [] }, 'nobody: the settings name no owner'],
    [{ owners: ['telegram:2'] }, 'nobody: no owner has written in a direct chat yet'],
    [{ choice: 'telegram:2' }, 'nobody: heartbeat.tell is telegram:2, which is none of the owners'],
    [
      { choice: 'telegram:7', owners: ['telegram:7'] },
      'nobody: telegram:7 has not written in a direct chat yet',
    ],
  ])('[H04] %j: %s', (facts, target) => expect(said(facts)).toBe(target));

  it('[H04] is never a group that the task does not name, and never somebody else', () => {
    const person = fc.constantFrom('telegram:1', 'telegram:2', 'last', '');
    const known = fc.record(
      {
        conversationId: fc.string(),
        kind: fc.constantFrom('direct' as const, 'group' as const),
        person,
        ownerWroteAt: fc.nat(),
      },
      { requiredKeys: ['conversationId', 'kind'] },
    );
    const named = fc.record({ name: fc.string(), chat: fc.option(known) });
    const facts = fc.record({
      tell: fc.option(named, { nil: undefined }),
      choice: person,
      owners: fc.array(person),
      chats: fc.array(known),
    });
    fc.assert(
      fc.property(facts, (given) => {
        const target = alertTarget(given);
        if (target.kind === 'nobody') return;
        if (target.chat.kind === 'group') expect(target.chat).toBe(given.tell?.chat);
        else expect(given.owners).toContain(target.chat.person);
      }),
      { numRuns: 1000 },
    );
  });
});
