import { describe, expect, it } from 'vitest';
import { aMessage } from '../testing/a-message.ts';
import { type DecisionRules, decideIngress } from './decide.ts';
import type { AccountPolicy } from './policy.ts';

const CLOSED: AccountPolicy = {
  access: { direct: 'allowlist', groups: 'allowlist', allow: ['7'], allowGroups: ['-100'] },
  activation: 'mention',
  answers: { mentions: 'dead', numbered: false },
};

function rules(policy: Partial<AccountPolicy> = {}): DecisionRules {
  return {
    policy: { ...CLOSED, ...policy },
    owners: ['telegram:42'],
    limits: { messageCharacters: 20, waitingPerConversation: 5 },
  };
}

const group = { id: '-100', type: 'group' } as const;
const elsewhere = { id: '-200', type: 'group' } as const;
const stranger = { id: '99' };

describe('what ingress does with a message', () => {
  it.each([
    ['an owner in a direct chat gets a turn', aMessage(), 'turn'],
    ['a listed person gets a turn', aMessage({ sender: { id: '7' } }), 'turn'],
    ['a stranger is refused', aMessage({ sender: stranger }), 'refuse'],
    [
      'an addressed message in a served group gets a turn',
      aMessage({ chat: group, addressed: true }),
      'turn',
    ],
    [
      'a stranger in a served group may ask',
      aMessage({ chat: group, sender: stranger, addressed: true }),
      'turn',
    ],
    [
      'an owner in a group that is not served is refused',
      aMessage({ chat: elsewhere, addressed: true }),
      'refuse',
    ],
    ['an unaddressed message in a group is ignored', aMessage({ chat: group }), 'ignore'],
    ['a command from an owner is a command', aMessage({ text: '/stop' }), 'command'],
    [
      'a command from a stranger is refused',
      aMessage({ text: '/stop', sender: stranger }),
      'refuse',
    ],
    [
      'an unaddressed command in a group is ignored',
      aMessage({ text: '/stop', chat: group }),
      'ignore',
    ],
    ['an unknown command is ordinary text', aMessage({ text: '/dance' }), 'turn'],
    ['white space is ignored', aMessage({ text: ' \n ' }), 'ignore'],
    ['a message of the longest length is taken', aMessage({ text: 'x'.repeat(20) }), 'turn'],
    ['a longer one is refused', aMessage({ text: 'x'.repeat(21) }), 'refuse'],
  ])('[F05] [F06] %s', (_case, message, kind) => {
    expect(decideIngress(message, rules()).kind).toBe(kind);
  });

  it('[F07] ignores whatever a bot writes, even one that is an owner', () => {
    const message = aMessage({ sender: { id: '42', isBot: true }, text: '/stop' });
    expect(decideIngress(message, rules())).toEqual({
      kind: 'ignore',
      reason: 'written by a bot',
      overhear: false,
    });
  });

  it('[F05] explains itself to a stranger in a direct chat, never in a group', () => {
    const direct = decideIngress(aMessage({ sender: stranger }), rules());
    const inGroup = decideIngress(aMessage({ chat: elsewhere, addressed: true }), rules());
    expect(direct).toMatchObject({ kind: 'refuse', tell: 'stranger' });
    expect(inGroup).toMatchObject({ kind: 'refuse', tell: null });
  });

  it.each([
    ['open', 'turn'],
    ['allowlist', 'refuse'],
    ['disabled', 'refuse'],
  ] as const)('[F05] treats a stranger by the mode "%s"', (direct, kind) => {
    const access = { ...CLOSED.access, direct };
    expect(decideIngress(aMessage({ sender: stranger }), rules({ access })).kind).toBe(kind);
  });

  it('[F05] lets nobody but owners in when direct chats are disabled, not even those listed', () => {
    const access = { ...CLOSED.access, direct: 'disabled' as const };
    expect(decideIngress(aMessage({ sender: { id: '7' } }), rules({ access })).kind).toBe('refuse');
    expect(decideIngress(aMessage(), rules({ access })).kind).toBe('turn');
  });

  it.each([
    ['what is said in a served group', aMessage({ chat: group }), 'mention', true],
    ['white space', aMessage({ chat: group, text: ' ' }), 'mention', false],
    ['what a bot says', aMessage({ chat: group, sender: { isBot: true } }), 'mention', false],
    ['what is said where it never answers', aMessage({ chat: group }), 'never', false],
  ] as const)(
    '[F06] keeps for the next turn %s: activation %#',
    (_c, message, activation, keep) => {
      expect(decideIngress(message, rules({ activation }))).toMatchObject({
        kind: 'ignore',
        overhear: keep,
      });
    },
  );

  it.each([
    ['always', false, 'turn'],
    ['mention', false, 'ignore'],
    ['mention', true, 'turn'],
    ['never', true, 'ignore'],
  ] as const)(
    '[F06] with activation "%s" and addressed %s the group gets: %s',
    (activation, addressed, kind) => {
      expect(decideIngress(aMessage({ chat: group, addressed }), rules({ activation })).kind).toBe(
        kind,
      );
    },
  );
});
