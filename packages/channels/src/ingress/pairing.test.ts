import { CAPABILITIES } from '@parley/core/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMessage, IngressScene, OWNER_CHAT, POLICY } from '../testing/ingress-scene.ts';
import { CODE_LENGTH, createOneTimeCode, parseTypedCode } from './one-time-code.ts';
import type { AccountPolicy } from './rules.ts';

let scene: IngressScene;
beforeEach(async () => {
  scene = new IngressScene();
  await scene.open();
});
afterEach(() => scene.store.close());

describe('a stranger when direct chats use pairing', () => {
  const pairing = { access: { ...POLICY.access, direct: 'pairing' as const } };
  const stranger = (id: string, messageId = '1') =>
    createMessage({ chat: { id }, sender: { id, name: 'E`v`e' }, messageId, text: 'my secret' });
  const toldTo = (chatId: string) => scene.told(chatId);
  const write = (id: string, messageId?: string) =>
    scene.ingressWith(pairing)(stranger(id, messageId), CAPABILITIES);
  const ownerSays = (text: string, messageId: string) =>
    scene.receive(createMessage({ text, messageId }));

  it('[F05] gets a code once while it is valid, and no part of the message is kept', async () => {
    expect((await write('9')).kind).toBe('refused');
    await write('9', '2');
    expect(await toldTo('9')).toEqual([expect.stringContaining('/pair AAAA2222')]);
    scene.now += 60 * 60_000;
    await write('9', '3');
    expect((await toldTo('9')).at(-1)).toContain('/pair CCCC4444');
    expect(await scene.inbox({ ...OWNER_CHAT, chatId: '9' })).toEqual([]);
    expect(
      `${JSON.stringify(await scene.store.pairing.pending(scene.now))} ${scene.lines.join()}`,
    ).not.toContain('secret');
  });

  it('[U02] is shown the button that makes them the owner, not a file name', async () => {
    await write('9');
    const [told] = await toldTo('9');
    expect(told).toContain("open Set up on its page and press “That's me”");
    expect(told).toContain('parley setup');
    expect(told).not.toMatch(/settings|yaml|owners/);
  });

  it('[F05] waits in a short queue: the fourth stranger is asked to come back later', async () => {
    for (const id of ['6', '7', '8']) await write(id);
    await write('9');
    expect(await toldTo('9')).toEqual([expect.stringContaining('too many people')]);
    expect((await scene.store.pairing.pending(scene.now)).map(({ senderId }) => senderId)).toEqual([
      '6',
      '7',
      '8',
    ]);
  });

  it('[F05] gets a code with the length, lifetime and queue size from the settings', async () => {
    const bounds = { characters: 12, minutes: 15, pending: 1 };
    const access = { ...pairing.access, pairing: bounds };
    const asked: (number | undefined)[] = [];
    const newCode = (characters?: number) => {
      asked.push(characters);
      return 'A'.repeat(characters ?? 8);
    };
    const receive = scene.ingressWith({ access }, { newCode });
    await receive(stranger('9'), CAPABILITIES);
    await receive(stranger('8'), CAPABILITIES);
    expect(asked).toEqual([12, 12]);
    expect(await toldTo('9')).toEqual([expect.stringContaining('valid for 15 minutes')]);
    expect(await toldTo('8')).toEqual([expect.stringContaining('try again in 15 minutes')]);
    scene.now += 15 * 60_000 - 1;
    expect(await scene.store.pairing.pending(scene.now)).toHaveLength(1);
    expect(await scene.store.pairing.pending(scene.now + 1)).toEqual([]);
    await ownerSays('/pair aaaa-aaaa-aaaa', '50');
    expect((await scene.told()).at(-1)).toBe('Eve (telegram:9) has access now.');
  });

  it('[F05] gets lasting access and a notice when an owner types the code, in any spelling', async () => {
    await write('9');
    await ownerSays('/pair aaaa-2222', '50');
    expect(await scene.told()).toEqual(['Eve (telegram:9) has access now.']);
    expect((await toldTo('9')).at(-1)).toContain('You have access now');
    expect(scene.happened).toContain('deliver 9');
    scene.now += 365 * 24 * 60 * 60_000;
    expect(await write('9', '2')).toMatchObject({ kind: 'accepted' });
    expect(await scene.knownTo('telegram:default:9')).toEqual([
      expect.stringContaining('You have access now'),
    ]);
  });

  it('[F05] does not get access with a wrong code, with an expired one, or by typing the code themselves', async () => {
    await write('9');
    await ownerSays('/pair AAAA2223', '50');
    scene.now += 60 * 60_000;
    await ownerSays('/pair AAAA2222', '51');
    expect((await write('9', '2')).kind).toBe('refused');
    const self = { ...stranger('9', '3'), text: '/pair CCCC4444' };
    expect((await scene.ingressWith(pairing)(self, CAPABILITIES)).kind).toBe('refused');
    expect((await write('9', '4')).kind).toBe('refused');
  });

  it('[F05] is listed by /pair, but only for the owner and never in a group', async () => {
    await write('9');
    await ownerSays('/pair', '50');
    expect((await scene.told()).at(-1)).toContain('Eve (telegram:9): /pair AAAA2222');
    const group = { id: '-9', type: 'group' } as const;
    await scene.receive(
      createMessage({ chat: group, addressed: true, text: '/pair', messageId: '51' }),
    );
    await scene.receive(
      createMessage({
        chat: group,
        addressed: true,
        text: '/pair',
        messageId: '52',
        sender: { id: '7' },
      }),
    );
    expect(await toldTo('-9')).toEqual([
      expect.stringContaining('direct chat'),
      '/pair is for my owner only.',
    ]);
  });

  it('[F05] gets no answer on a channel that does not answer strangers; the owner is notified once', async () => {
    await ownerSays('/whoami', '50');
    const silent = scene.ingressWith(pairing, { answersStrangers: false });
    for (const id of ['1', '2']) await silent(stranger('9', id), CAPABILITIES);
    expect(await toldTo('9')).toEqual([]);
    const toOwner = (await scene.told()).slice(1);
    expect(toOwner).toEqual([expect.stringContaining('/pair AAAA2222')]);
    expect(scene.happened.filter((line) => line === 'deliver 9')).toEqual([]);
    await ownerSays('who is that?', '51');
    expect(await scene.knownTo('telegram:default:42')).toEqual([
      '`Eve` (`telegram:9`) wants to write to me and got no answer. `/pair …` lets them in. It is valid for an hour.',
    ]);
  });

  it('[F05] gets no answer on such a channel when no owner is known, or when the allow list decides', async () => {
    await scene.ingressWith(pairing, { answersStrangers: false })(stranger('9'), CAPABILITIES);
    await scene.ingressWith({}, { answersStrangers: false })(stranger('9', '2'), CAPABILITIES);
    expect(await toldTo('9')).toEqual([]);
    expect(await scene.store.pairing.pending(scene.now)).toHaveLength(1);
    expect(scene.lines.join()).not.toContain('telegram:9');
  });

  it('[F05] is refused when the database is unavailable', async () => {
    await scene.store.close();
    await expect(write('9')).rejects.toMatchObject({ name: 'StoreError' });
    await scene.open();
  });
});

describe('a group that is not on the allow list', () => {
  const listed = { access: { ...POLICY.access, groups: 'allowlist' as const } };
  const write = (
    id: string,
    messageId: string,
    title?: string,
    policy: Pick<AccountPolicy, 'access'> = listed,
  ) =>
    scene.ingressWith(policy)(
      createMessage({
        chat: { id, type: 'group', ...(title === undefined ? {} : { title }) },
        messageId,
        text: 'my secret',
      }),
      CAPABILITIES,
    );
  const seen = async () => (await scene.store.seenGroups.list()).map((group) => group.title);

  it('[F05] is recorded by its title, without any message text', async () => {
    expect((await write('-9', '1', 'Family')).kind).toBe('refused');
    expect(await scene.store.seenGroups.list()).toEqual([
      {
        ...{ channel: 'telegram', account: 'default', chatId: '-9' },
        ...{ title: 'Family', seenAt: scene.now },
      },
    ]);
    expect(await scene.told('-9')).toEqual([]);
  });

  it('[F05] causes at most one write every five minutes', async () => {
    const receive = scene.ingressWith(listed);
    const say = (messageId: string, title: string) =>
      receive(createMessage({ chat: { id: '-9', type: 'group', title }, messageId }), CAPABILITIES);
    await say('1', 'Family');
    await say('2', 'Friends');
    expect(await seen()).toEqual(['Family']);
    scene.now += 5 * 60_000;
    await say('3', 'Friends');
    expect(await seen()).toEqual(['Friends']);
  });

  it('[F05] is not recorded when groups are disabled or the group is allowed', async () => {
    await write('-9', '1', 'Family', { access: { ...POLICY.access, groups: 'disabled' } });
    await write('-8', '2', 'Mine', { access: { ...listed.access, allowGroups: ['-8'] } });
    await scene.ingressWith(listed)(
      createMessage({ chat: { id: '9' }, messageId: '3' }),
      CAPABILITIES,
    );
    expect(await seen()).toEqual([]);
  });
});

describe('a one-time code', () => {
  it('[F05] has 8 characters, all equally likely and easy to tell apart', () => {
    const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const signs = Array.from(all, (byte) => createOneTimeCode(Uint8Array.of(byte))).join('');
    expect(CODE_LENGTH).toBe(8);
    expect(createOneTimeCode(all)).toHaveLength(8);
    expect(new Set(signs).size).toBe(32);
    expect(signs).not.toMatch(/[01OI]/);
    for (const sign of new Set(signs)) expect(signs.split(sign)).toHaveLength(9);
  });

  it.each([
    ['ABCD2345', 'ABCD2345'],
    ['abcd2345', 'ABCD2345'],
    [' ABCD-2345 ', 'ABCD2345'],
    ['ABCD 2345', 'ABCD2345'],
    ['ABCD234', null],
    ['ABCD23456', null],
    ['ABCD2340', null],
    ['', null],
  ])('[F05] is parsed from %j as %j', (text, code) => {
    expect(parseTypedCode(text)).toBe(code);
  });
});
