import type { InboundMessage } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { parseCommand } from '../commands/typed-command.ts';
import { createMessage } from '../testing/ingress-scene.ts';
import { decideIngress } from './decide.ts';
import type { AccountPolicy, DecisionRules } from './rules.ts';
import { toPersonId } from './sender.ts';

const CLOSED: AccountPolicy = {
  access: {
    direct: 'allowlist',
    groups: 'allowlist',
    allow: ['7'],
    allowGroups: ['-100'],
    groupCommands: 'administrators',
  },
  activation: 'mention',
  answers: { mentions: 'dead', numbered: false },
};

function rules(policy: Partial<AccountPolicy> = {}): DecisionRules {
  return {
    policy: { ...CLOSED, ...policy },
    owners: ['telegram:42'],
    limits: { messageCharacters: 20, waitingPerConversation: 5, totalWaiting: 100 },
  };
}

function decided(message: InboundMessage, by: DecisionRules, isAllowed = false) {
  const rights = { isOwner: by.owners.includes(toPersonId(message)), isAllowed };
  return decideIngress(message, parseCommand(message.text), by, rights);
}

const group = { id: '-100', type: 'group' } as const;
const elsewhere = { id: '-200', type: 'group' } as const;
const stranger = { id: '99' };

describe('the ingress decision about a message', () => {
  it.each([
    ['an owner in a direct chat gets a turn', createMessage(), 'turn'],
    ['a listed person gets a turn', createMessage({ sender: { id: '7' } }), 'turn'],
    ['a stranger is refused', createMessage({ sender: stranger }), 'refuse'],
    [
      'an addressed message in a served group gets a turn',
      createMessage({ chat: group, addressed: true }),
      'turn',
    ],
    [
      '[D05] a group named by the id to which it has moved is served',
      createMessage({ chat: { ...elsewhere, movedTo: '-100' }, addressed: true }),
      'turn',
    ],
    [
      '[F05] [F17] a chat of a named business account is served',
      createMessage({ chat: { ...elsewhere, within: '-100' }, addressed: true }),
      'turn',
    ],
    [
      '[F05] [F17] a chat of another business account is refused',
      createMessage({ chat: { ...elsewhere, within: 'business:7' }, addressed: true }),
      'refuse',
    ],
    [
      'a stranger in a served group may ask',
      createMessage({ chat: group, sender: stranger, addressed: true }),
      'turn',
    ],
    [
      'an owner in a group that is not served is refused',
      createMessage({ chat: elsewhere, addressed: true }),
      'refuse',
    ],
    ['an unaddressed message in a group is ignored', createMessage({ chat: group }), 'ignore'],
    ['a command from an owner is a command', createMessage({ text: '/stop' }), 'command'],
    [
      'a command from a stranger is refused',
      createMessage({ text: '/stop', sender: stranger }),
      'refuse',
    ],
    [
      'an unaddressed command in a group is ignored',
      createMessage({ text: '/stop', chat: group }),
      'ignore',
    ],
    ['an unknown command is ordinary text', createMessage({ text: '/dance' }), 'turn'],
    ['white space is ignored', createMessage({ text: ' \n ' }), 'ignore'],
    [
      'a picture without words gets a turn',
      createMessage({ text: '', attachments: [{ kind: 'image', ref: 'x' }] }),
      'turn',
    ],
    [
      'a message of the maximum length is accepted',
      createMessage({ text: 'x'.repeat(20) }),
      'turn',
    ],
    ['a longer one is refused', createMessage({ text: 'x'.repeat(21) }), 'refuse'],
  ])('[F05] [F06] %s', (_case, message, kind) => {
    expect(decided(message, rules()).kind).toBe(kind);
  });

  it.each([
    ['a member with one of the roles may write', { id: '99', roles: ['r0', 'r1'] }, group, 'turn'],
    ['an owner needs none', { id: '42', roles: [] }, group, 'turn'],
    ['a member with other roles may not', { id: '99', roles: ['r2'] }, group, 'refuse'],
    ['nor a person whose roles are unknown', { id: '7' }, group, 'refuse'],
    ['a role opens no other group', { id: '99', roles: ['r1'] }, elsewhere, 'refuse'],
  ])('[F05] when the settings name roles, %s', (_case, sender, chat, kind) => {
    const access = { ...CLOSED.access, allowRoles: ['r1'] };
    const message = createMessage({ chat, sender, addressed: true });
    expect(decided(message, rules({ access })).kind).toBe(kind);
    expect(decided({ ...message, addressed: false }, rules({ access })).kind).toBe(
      kind === 'turn' ? 'ignore' : 'refuse',
    );
  });

  it('[F07] ignores every message of a bot, even one that is an owner', () => {
    const message = createMessage({ sender: { id: '42', isBot: true }, text: '/stop' });
    expect(decided(message, rules())).toEqual({
      kind: 'ignore',
      reason: 'written by a bot',
      keepAsContext: false,
    });
  });

  it('[F05] explains the refusal to a stranger in a direct chat, but never in a group', () => {
    const direct = decided(createMessage({ sender: stranger }), rules());
    const inGroup = decided(createMessage({ chat: elsewhere, addressed: true }), rules());
    expect(direct).toMatchObject({ kind: 'refuse', notice: 'stranger' });
    expect(inGroup).toMatchObject({ kind: 'refuse', notice: null });
  });

  it.each([
    ['open', false, { kind: 'turn' }],
    ['allowlist', false, { kind: 'refuse', notice: 'stranger' }],
    ['allowlist', true, { kind: 'refuse', notice: 'stranger' }],
    ['pairing', false, { kind: 'refuse', notice: 'pairing' }],
    ['pairing', true, { kind: 'turn' }],
    ['disabled', false, { kind: 'refuse', notice: null }],
    ['disabled', true, { kind: 'refuse', notice: null }],
  ] as const)(
    '[F05] follows the mode "%s" for a stranger: allowed %s',
    (direct, isAllowed, expected) => {
      const access = { ...CLOSED.access, direct };
      const decision = decided(createMessage({ sender: stranger }), rules({ access }), isAllowed);
      expect(decision).toMatchObject(expected);
    },
  );

  it('[F05] admits people on the allow list without a code', () => {
    const access = { ...CLOSED.access, direct: 'pairing' as const };
    expect(decided(createMessage({ sender: { id: '7' } }), rules({ access })).kind).toBe('turn');
  });

  it('[F05] does not admit a paired person to groups that are not allowed', () => {
    const message = createMessage({ chat: elsewhere, sender: stranger, addressed: true });
    expect(decided(message, rules(), true).kind).toBe('refuse');
  });

  it.each([
    [createMessage(), 'written by an owner; in a direct chat'],
    [createMessage({ sender: { id: '7' } }), 'the sender is on the allow list; in a direct chat'],
    [
      createMessage({ chat: group, addressed: true }),
      'the group is on the allow list; addressed to the bot',
    ],
    [createMessage({ chat: group }), 'the bot was not addressed'],
    [createMessage({ chat: elsewhere, addressed: true }), 'the group is not on the allow list'],
    [createMessage({ sender: stranger }), 'the sender is not on the allow list'],
    [createMessage({ sender: { isBot: true } }), 'written by a bot'],
    [createMessage({ text: '' }), 'no text'],
    [createMessage({ text: '', replyTo: { messageId: '6' } }), 'no text'],
    [
      createMessage({ text: '', replyTo: { messageId: '6', text: 'Build failed' } }),
      'written by an owner; in a direct chat',
    ],
    [
      createMessage({ text: '', quotation: { text: 'Build failed' } }),
      'written by an owner; in a direct chat',
    ],
    [createMessage({ text: '', replaces: '1' }), 'written by an owner; in a direct chat'],
    [createMessage({ text: 'x'.repeat(21) }), 'longer than 20 characters'],
  ])('[D08] states its reason as a sentence (%#)', (message, reason) => {
    expect(decided(message, rules()).reason).toBe(reason);
  });

  it('[F05] admits only owners when direct chats are disabled, refusing even listed people', () => {
    const access = { ...CLOSED.access, direct: 'disabled' as const };
    expect(decided(createMessage({ sender: { id: '7' } }), rules({ access })).kind).toBe('refuse');
    expect(decided(createMessage(), rules({ access })).kind).toBe('turn');
  });

  it.each([
    ['what is said in a served group', createMessage({ chat: group }), 'mention', true],
    ['white space', createMessage({ chat: group, text: ' ' }), 'mention', false],
    ['what a bot says', createMessage({ chat: group, sender: { isBot: true } }), 'mention', false],
    ['what is said where it never answers', createMessage({ chat: group }), 'never', false],
  ] as const)(
    '[F06] keeps messages for the next turn %s: activation %#',
    (_c, message, activation, keep) => {
      expect(decided(message, rules({ activation }))).toMatchObject({
        kind: 'ignore',
        keepAsContext: keep,
      });
    },
  );

  it.each([
    ['always', false, 'turn'],
    ['mention', false, 'ignore'],
    ['mention', true, 'turn'],
    ['never', true, 'ignore'],
  ] as const)(
    '[F06] decides about a group message with activation "%s" and addressed %s: %s',
    (activation, addressed, kind) => {
      expect(decided(createMessage({ chat: group, addressed }), rules({ activation })).kind).toBe(
        kind,
      );
    },
  );
});
