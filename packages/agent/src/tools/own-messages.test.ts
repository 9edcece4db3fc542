import { afterEach, describe, expect, it } from 'vitest';
import { listToolMessages, openTurnScene, type TurnScene } from '../testing/turn-scene.ts';
import { PLACE } from '../testing/write-message.ts';
import { createBotMessageTools, listMissingActions } from './own-messages.ts';

const ACTS = ['react', 'edit', 'delete'] as const;
const CHAT = { ...PLACE, chatId: 'c' };

let scene: TurnScene;
afterEach(() => scene.close());

async function open(): Promise<void> {
  const stored = {
    get outbox() {
      return scene.store.outbox;
    },
  };
  const tools = createBotMessageTools({
    store: stored,
    deliver: async () => {},
    owners: ['test:1'],
  });
  scene = await openTurnScene({}, { tools });
}

/** Delivers the pending parts of the chat with the message ids p1, p2 and so on. */
async function deliver(): Promise<void> {
  for (const { part } of await scene.store.outbox.unfinished(CHAT, 99)) {
    await scene.store.outbox.markSending(part.id, 1);
    if (part.act === undefined) sent += 1;
    const id = part.act === undefined ? `p${sent}` : `act:${part.id}`;
    await scene.store.outbox.markSent(part.id, id, 2);
  }
}
let sent = 0;

async function calls(name: string, input: object, acts: (typeof ACTS)[number][] = [...ACTS]) {
  await scene.write('do it', { acts });
  scene.model.next({ calls: [{ name, with: input }] }, { say: 'Done.' });
  await scene.answerNext();
  const acted = await scene.store.outbox.unfinished(CHAT, 99);
  const heard = listToolMessages(scene.model.asked.at(-1)).map(({ content }) => content);
  await deliver();
  return { heard: heard.at(-1), acts: acted.flatMap(({ part }) => part.act ?? []) };
}

describe('the agent’s actions on messages', () => {
  it('[F04] reacts to the message being answered', async () => {
    await open();
    const { acts } = await calls('react', { emoji: '👍' });
    expect(acts).toEqual([{ kind: 'react', messageId: 'm1', emoji: '👍' }]);
  });

  it('[F04] edits and deletes its own messages, counted from the newest', async () => {
    await open();
    sent = 0;
    for (const text of ['one', 'two']) {
      await scene.write(text);
      scene.model.next({ say: text });
      await scene.answerNext();
      await deliver();
    }
    const edited = await calls('edit_message', { message: 2, text: '**uno**' });
    expect(edited.acts).toEqual([{ kind: 'edit', messageId: 'p1' }]);
    // The answer of this turn is p3.
    const deleted = await calls('delete_message', { message: 2 });
    expect(deleted.acts).toEqual([{ kind: 'delete', messageId: 'p2' }]);
    const missing = await calls('delete_message', { message: 9 });
    expect([missing.acts, missing.heard]).toEqual([[], expect.stringContaining('Not done')]);
  });

  it('[F04] offers only the tools that the chat supports', async () => {
    await open();
    const { heard, acts } = await calls('react', { emoji: '👍' }, ['edit']);
    expect([heard, acts]).toEqual([expect.stringContaining('There is no tool "react"'), []]);
    expect(scene.model.asked[0]?.tools?.map(({ name }) => name)).toEqual(['edit_message']);
    expect(listMissingActions({})).toHaveLength(3);
    expect(listMissingActions({ acts: ['react', 'edit', 'delete'] })).toEqual([]);
  });

  describe('changing messages in a group', () => {
    const GROUP = { id: 'c', type: 'group' } as const;
    const ADA = { id: '1', name: 'Ada', isBot: false };
    const ANN = { id: '2', name: 'Ann', isBot: false };
    const BO = { id: '3', name: 'Bo', isBot: false };
    const says = async (sender: typeof ANN, text: string) => {
      await scene.write(text, { chat: GROUP, sender });
      scene.model.next({ say: `To ${sender.name}` });
      await scene.answerNext();
      await deliver();
    };
    const changes = async (sender: typeof ANN, name: string, input: object) => {
      await scene.write('change it', { chat: GROUP, sender, acts: [...ACTS] });
      scene.model.next({ calls: [{ name, with: input }] }, { say: 'Well.' });
      await scene.answerNext();
      const acts = (await scene.store.outbox.unfinished(CHAT, 99)).flatMap(
        ({ part }) => part.act ?? [],
      );
      await deliver();
      return acts;
    };

    it('[P18] lets a guest change only answers to that guest, and lets the owner change any answer', async () => {
      await open();
      sent = 0;
      await says(BO, 'When is the game?');
      await says(ANN, 'Hello');
      const text = 'The game is off.';
      expect(await changes(ANN, 'edit_message', { message: 2, text })).toEqual([]);
      expect(await changes(ANN, 'delete_message', { message: 3 })).toEqual([]);
      const own = await changes(ANN, 'edit_message', { message: 3, text });
      expect(own).toEqual([{ kind: 'edit', messageId: 'p2' }]);
      const any = await changes(ADA, 'edit_message', { message: 5, text });
      expect(any).toEqual([{ kind: 'edit', messageId: 'p1' }]);
    });
  });

  it('[G05] never changes an approval request in the same chat', async () => {
    await open();
    sent = 0;
    await scene.write('one');
    scene.model.next({ say: 'one' });
    await scene.answerNext();
    const route = { ...CHAT, target: { dialect: 'plain', maxLength: 200, unit: 'utf16' } } as const;
    const buttons = [{ label: 'Approve', data: '/approve ABC234' }];
    const question = { route, body: { text: 'May I?', plain: 'May I?' }, buttons };
    await scene.store.outbox.enqueue([question], 1);
    await deliver();
    const newest = await calls('edit_message', { message: 1, text: 'The weather is fine.' });
    expect(newest.acts).toEqual([{ kind: 'edit', messageId: 'p1' }]);
    const older = await calls('delete_message', { message: 3 });
    expect(older.acts).toEqual([]);
  });

  it('[F04] does not react to a message in another chat', async () => {
    await open();
    await scene.write('do it', { acts: [...ACTS], answersIn: 'elsewhere' });
    scene.model.next({ calls: [{ name: 'react', with: { emoji: '👍' } }] }, { say: 'Done.' });
    await scene.answerNext();
    const acts = (await scene.store.outbox.unfinished({ ...CHAT, chatId: 'elsewhere' }, 9)).flatMap(
      ({ part }) => part.act ?? [],
    );
    expect(acts).toEqual([]);
  });
});
