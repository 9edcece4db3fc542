import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alertTarget, type KnownChat } from './alert-target.ts';

const ANN = 'telegram:1';
const chat = (id: string, more: Partial<KnownChat> = {}): KnownChat => ({
  conversationId: id,
  channel: 'telegram',
  chatId: id,
  kind: 'direct',
  ...more,
});
const CHATS: readonly KnownChat[] = [
  chat('ann', { person: ANN, ownerWroteAt: 5 }),
  chat('ann-wa', { person: 'whatsapp:1', channel: 'whatsapp', ownerWroteAt: 9 }),
  chat('bob', { person: 'telegram:2' }),
  chat('family', { kind: 'group', title: 'Our  Family', ownerWroteAt: 99 }),
  chat('one', { kind: 'group', title: 'Twins' }),
  chat('two', { kind: 'group', title: 'twins' }),
];
const OWNERS = [ANN, 'whatsapp:1'];

function said(facts: {
  tell?: string;
  choice?: string;
  owners?: string[];
  chats?: readonly KnownChat[];
}) {
  const target = alertTarget({ choice: 'last', owners: OWNERS, chats: CHATS, ...facts });
  if (target.kind === 'nobody') return `nobody: ${target.reason}`;
  return target.chat.conversationId + (target.note === undefined ? '' : ` (${target.note})`);
}

describe('whom an alert goes to', () => {
  it.each([
    [{}, 'ann-wa'],
    [{ choice: ANN }, 'ann'],
    [{ tell: 'our family' }, 'family'],
    [{ tell: 'telegram:two' }, 'two'],
    [{ tell: 'twins' }, 'ann-wa (several groups are called "twins", so the owner is told)'],
    [{ tell: 'nowhere' }, 'ann-wa (no group is called "nowhere", so the owner is told)'],
    [{ tell: 'telegram:bob' }, 'ann-wa (no group is called "telegram:bob", so the owner is told)'],
    [{ owners: [] }, 'nobody: the settings name no owner'],
    [{ owners: ['telegram:2'] }, 'nobody: no owner has written in a direct chat yet'],
    [{ choice: 'telegram:2' }, 'nobody: heartbeat.tell is telegram:2, which is none of the owners'],
    [
      { choice: 'telegram:7', owners: ['telegram:7'] },
      'nobody: telegram:7 has not written in a direct chat yet',
    ],
  ])('[H04] %j: %s', (facts, target) => expect(said(facts)).toBe(target));

  it('[H04] is never a group by accident, and never somebody else', () => {
    const name = fc.constantFrom('a', 'A ', 'b', 'telegram:1', 'telegram:2', 'last', '');
    const known = fc.record(
      {
        conversationId: fc.string(),
        channel: fc.constantFrom('telegram', 'whatsapp'),
        chatId: fc.constantFrom('1', '2', '3'),
        kind: fc.constantFrom('direct' as const, 'group' as const),
        title: name,
        person: name,
        ownerWroteAt: fc.nat(),
      },
      { requiredKeys: ['conversationId', 'channel', 'chatId', 'kind'] },
    );
    const facts = fc.record({
      tell: fc.option(name, { nil: undefined }),
      choice: name,
      owners: fc.array(name),
      chats: fc.array(known),
    });
    fc.assert(
      fc.property(facts, (given) => {
        const target = alertTarget(given);
        if (target.kind === 'nobody') return;
        const { kind, title, channel, chatId, person = '?' } = target.chat;
        if (kind === 'direct') expect(given.owners).toContain(person);
        else {
          const names = [title?.trim().toLowerCase(), `${channel}:${chatId}`];
          expect(given.tell).toBeDefined();
          expect([...names, undefined]).toContain(given.tell?.trim().toLowerCase());
        }
      }),
      { numRuns: 1000 },
    );
  });
});
