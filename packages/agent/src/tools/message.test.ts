import { afterEach, describe, expect, it } from 'vitest';
import { openTurnScene, type SceneOptions, type TurnScene } from '../testing/turn-scene.ts';
import { PLACE, type WriteMessageOptions } from '../testing/write-message.ts';
import { createMessageTool } from './message.ts';

const BO = { id: '2', name: 'Bo', isBot: false };
const FAMILY: WriteMessageOptions = {
  chat: { id: '-9', type: 'group', title: 'Family' },
  sender: BO,
};
/** Another chat of the same owner with the bot, for example on another platform. */
const PHONE: WriteMessageOptions = { chat: { id: 'phone', type: 'direct' }, fromOwner: true };
const NAMED = { family: { ...PLACE, chat: '-9' }, gone: { ...PLACE, account: 'x', chat: '1' } };

let scene: TurnScene;
afterEach(() => scene?.close());

async function open(
  chats: Parameters<typeof createMessageTool>[0]['chats'] = {},
  extras?: SceneOptions,
) {
  const stored = {
    get inbox() {
      return scene.store.inbox;
    },
    get links() {
      return scene.store.links;
    },
    get outbox() {
      return scene.store.outbox;
    },
    get groupContext() {
      return scene.store.groupContext;
    },
    get agentFiles() {
      return scene.store.agentFiles;
    },
  };
  const tool = createMessageTool({
    store: stored,
    owners: ['test:1'],
    serves: (_channel, account) => account === 'default',
    deliver: async (...chat) => void scene.woken.push(chat.join('/')),
    chats,
  });
  scene = await openTurnScene({}, { tools: [tool], ...extras });
}

const sends = (to: string, text: string) => ({
  calls: [{ name: 'message', with: { to, text } }],
});
const result = () => scene.model.asked.at(-1)?.messages.at(-1)?.content ?? '';
const owed = (chatId: string) => scene.store.outbox.recent({ ...PLACE, chatId }, 50);
/** A chat in which a person has written and received an answer. */
async function used(writing: WriteMessageOptions, text = 'hello'): Promise<void> {
  await scene.write(text, writing);
  await scene.answerNext(writing.chat?.id);
}

describe('a message to another chat', () => {
  it('[G02] reaches the owner in the other chat they used last, unmarked and without an approval', async () => {
    await open(NAMED);
    await used(PHONE);
    await scene.write('send that to my phone', { fromOwner: true });
    scene.model.next(sends('owner', '**Dentist** at nine @everyone'), { say: 'I have sent it.' });
    await scene.answerNext();
    expect(await scene.owed('phone')).toEqual(['fine', 'Dentist at nine @everyone']);
    expect(await scene.owed()).toEqual(['I have sent it.']);
    expect(scene.woken).toContain('test/default/phone');
    expect(result()).toContain('on its way');
  });

  it('[G02] [G05] waits for an approval if it goes to a chat from the settings, and has the system mark (G08)', async () => {
    await open(NAMED);
    await used(FAMILY);
    await scene.write('tell the family', { fromOwner: true });
    scene.model.next(sends('family', 'Dinner at eight.'), { say: 'They know.' });
    await scene.answerNext();
    expect(await scene.owed('-9')).toEqual(['fine']);
    const [question] = await scene.owed();
    expect(question).toContain('Dinner at eight.');
    const decision = { code: 'CODE1', verdict: 'approved', by: 'test:1' } as const;
    const [asked] = await scene.store.inbox.recent({ ...PLACE, chatId: 'c' }, 1);
    if (asked === undefined) throw new Error('nobody asked');
    const { message, ...row } = asked;
    await scene.store.inbox.command(
      { ...row, message: { ...message, messageId: 'yes' } },
      (command) => command.decideApproval(decision),
    );
    await scene.answerNext();
    expect(await scene.owed('-9')).toEqual(['fine', '⚙️ Dinner at eight.']);
    // In that chat, the agent understands a reply to the message.
    await scene.write('why so late?', FAMILY);
    await scene.answerNext('-9');
    const seen = String(scene.model.asked.at(-1)?.messages.at(-1)?.content);
    expect(seen).toMatch(/<own-messages>\n⚙️ From Parley: .*\nsent: .*Dinner at eight\./);
    expect(seen).not.toContain('<group-context>');
  });

  it('[G05] needs no approval if the settings allow it', async () => {
    const auto = ['message:family'];
    await open(NAMED, { approvals: { auto } });
    await used(FAMILY);
    await scene.write('tell the family', { fromOwner: true });
    scene.model.next(sends('family', 'Dinner!'));
    await scene.answerNext();
    expect(await scene.owed('-9')).toEqual(['fine', '⚙️ Dinner!']);
  });

  it.each([
    ['owner', 'no other direct chat'],
    ['owner:telegram', 'no other chat on telegram'],
    ['telegram:-9', 'No chat is called \\"telegram:-9\\". There are: owner, family, gone.'],
    ['toString', 'No chat is called'],
    ['gone', 'is not connected'],
    ['family', 'no message there'],
  ])('[G02] to %s is refused with the reason', async (to, why) => {
    await open(NAMED, { approvals: { auto: ['message'] } });
    await scene.write('send it', { fromOwner: true });
    scene.model.next(sends(to, 'x'));
    await scene.answerNext();
    expect(JSON.stringify(result())).toContain(why);
    expect(scene.woken).toEqual(['test/default/c']);
  });

  it.each([
    ['in a group', FAMILY],
    ['an owner in a group', { ...FAMILY, sender: { id: '1', name: 'Ada', isBot: false } }],
    [
      'a stranger',
      { chat: { id: 'bo', type: 'direct' }, sender: BO } satisfies WriteMessageOptions,
    ],
  ])('[W02] cannot be sent on behalf of %s', async (_, writing) => {
    await open(NAMED, { approvals: { auto: ['message'] } });
    await used(PHONE);
    await scene.write('send it to the owner', writing);
    scene.model.next(sends('owner', 'spam'));
    await scene.answerNext(writing.chat?.id);
    expect(scene.model.asked.at(-1)?.tools ?? []).toEqual([]);
    expect(await scene.owed('phone')).toEqual(['fine']);
  });

  it('[G05] is refused if it is too long to be shown to an approver', async () => {
    await open(NAMED, { approvals: { auto: ['message'] } });
    await used(FAMILY);
    await scene.write('send it', { fromOwner: true });
    const aside = { to: 'family', text: 'x', aside: 'y' };
    scene.model.next({ calls: [{ name: 'message', with: aside }] });
    await scene.answerNext();
    expect(result()).toContain('do not fit');
    expect(await scene.owed('-9')).toEqual(['fine']);
  });

  it.each(['NO_REPLY', '⚙️', '   '])(
    '[G09] is refused if it has no visible text (%j)',
    async (text) => {
      await open();
      await used(PHONE);
      await scene.write('send it', { fromOwner: true });
      scene.model.next(sends('owner', text));
      await scene.answerNext();
      expect(result()).toContain('nothing of this text would');
      expect(await scene.owed('phone')).toEqual(['fine']);
    },
  );

  it('[D07] is refused after five messages in the same turn', async () => {
    await open();
    await used(PHONE);
    await scene.write('send them', { fromOwner: true });
    scene.model.next({
      calls: Array.from({ length: 7 }, (_, nth) => ({
        name: 'message',
        with: { to: 'owner', text: `number ${nth}` },
      })),
    });
    await scene.answerNext();
    expect(await owed('phone')).toHaveLength(1 + 5);
    expect(result()).toContain('5 messages at most');
  });

  it('[G16] [D04] is not duplicated if the process dies before recording it', async () => {
    await open();
    await used(PHONE);
    await scene.write('send it', { fromOwner: true });
    const long = Array.from({ length: 40 }, (_, nth) => `Line ${nth} of it.`).join('\n\n');
    scene.model.next(sends('owner', long));
    const started = await scene.begin();
    const dies = new AbortController();
    const { outbox } = scene.store;
    const post = outbox.post.bind(outbox);
    Object.assign(outbox, {
      post: async (...all: Parameters<typeof post>) => {
        const posted = await post(...all);
        dies.abort('handed-back');
        return posted;
      },
    });
    await scene.run(started, dies.signal);
    const first = await owed('phone');
    expect(first.length).toBeGreaterThan(2);
    expect(await scene.store.turns.totals(0)).toMatchObject({ answered: 1 });
    Object.assign(outbox, { post });
    // Meanwhile the owner has continued in another chat.
    await used({ ...PHONE, chat: { id: 'tablet', type: 'direct' } });
    scene.later(20_000);
    await scene.answerNext();
    expect(await owed('phone')).toEqual(first);
    expect(await scene.owed('tablet')).toEqual(['fine']);
    expect(result()).toContain('on its way');
  });
});
