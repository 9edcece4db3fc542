import type { Revision } from '@parley/channels';
import { describe, expect, it } from 'vitest';
import { noSignal, readFailure } from '../adapter-core.ts';
import { createPart, openScene, type WhatsAppSceneOptions } from './adapter-scene.ts';

async function changeScene(wishes: WhatsAppSceneOptions = {}) {
  const open = await openScene(wishes);
  const { double, adapter, received, revised } = open;
  const ann = double.addPerson({ name: 'Ann' });
  const bob = double.addPerson({ name: 'Bob', addressing: 'lid' });
  const group = double.addGroup({ subject: 'G', members: [ann.id, bob.id, double.me.id] });
  const { messages } = adapter;
  if (!messages?.edit || !messages.delete || !messages.react) throw new Error('no message acts');
  const { edit, delete: remove, react } = messages;
  /** Sends a message as a person and waits until it has arrived. */
  const said = async (chat: string, from: string, text: string) => {
    const before = received.length;
    const id = await double.say({ chat, from, text });
    await double.waitFor(() => received.length === before + 1);
    return id;
  };
  const revisions = async (count: number): Promise<readonly Revision[]> => {
    await double.waitFor(() => revised.length >= count && double.waiting().length === 0);
    return revised;
  };
  return { ...open, ann, bob, group, edit, remove, react, said, revisions };
}

describe('the WhatsApp adapter', () => {
  it('[F04] edits and deletes its own messages', async () => {
    const { double, adapter, ann, group, edit, remove } = await changeScene();
    for (const chatId of [ann.id, group.jid]) {
      const { platformMessageId: id } = await adapter.send(createPart(chatId, 'first'), noSignal());
      const words = (text: string) => ({ text, plain: text });
      await edit({ chatId }, id, words('second'));
      await edit({ chatId }, id, words('first'));
      await edit({ chatId }, id, words('second'));
      expect(double.conversation(chatId)).toMatchObject([{ id, text: 'second', edits: 3 }]);
      expect(double.sends().at(-1)?.attrs.edit).toBe('1');
      await remove({ chatId }, id);
      expect(double.conversation(chatId)).toMatchObject([{ id, deleted: true }]);
      expect(double.sends().at(-1)?.attrs.edit).toBe('7');
    }
  });

  it("[F04] reacts to others' messages and its own, and removes reactions", async () => {
    const { double, adapter, ann, bob, group, react, said } = await changeScene();
    const reactions = (chat: string) =>
      double.conversation(chat).map((message) => message.reactions.get('bot'));
    await said(ann.id, ann.id, 'direct');
    const id = await said(group.jid, bob.id, 'in the group');
    const { platformMessageId } = await adapter.send(createPart(group.jid, 'mine'), noSignal());
    const [direct] = double.conversation(ann.id);
    await react({ chatId: ann.id }, direct?.id ?? '', '👍');
    await react({ chatId: group.jid }, id, '❤️');
    await react({ chatId: group.jid }, platformMessageId, '🎉');
    expect(reactions(ann.id)).toEqual(['👍']);
    expect(reactions(group.jid)).toEqual(['❤️', '🎉']);
    await react({ chatId: ann.id }, direct?.id ?? '', undefined);
    expect(reactions(ann.id)).toEqual([undefined]);
  });

  it("[F06] reports people's reactions, and their removal", async () => {
    const { double, adapter, ann, group, reactions } = await changeScene();
    const sent = await adapter.send(createPart(group.jid, 'mine'), noSignal());
    const direct = await double.say({ chat: ann.id, text: 'hers' });
    const id = sent.platformMessageId ?? '';
    await double.acts.react({ chat: group.jid, from: ann.id, id, emoji: '👍' });
    await double.acts.react({ chat: group.jid, from: ann.id, id, emoji: '' });
    await double.acts.react({ chat: ann.id, id: direct, emoji: '😀' });
    await double.waitFor(() => reactions.length === 3);
    const sender = { id: ann.pn?.split('@')[0], name: 'Ann', isBot: false };
    const there = { chat: { id: group.jid, type: 'group', title: 'G' }, messageId: id, sender };
    expect(reactions).toMatchObject([
      { ...there, emojis: ['👍'] },
      { ...there, emojis: [] },
      { chat: { id: ann.pn, type: 'direct' }, messageId: direct, sender, emojis: ['😀'] },
    ]);
    expect(new Set(reactions.map(({ sentAt }) => sentAt)).size).toBeGreaterThan(1);
  });

  it('[D01] receives a reaction again that could not be stored', async () => {
    let failures = 1;
    const reacted = async () => {
      failures -= 1;
      if (failures >= 0) throw new Error('the disk is full');
    };
    const { double, reactions, connected } = await openScene({ reacted });
    const ann = double.addPerson({ name: 'Ann' });
    const id = await double.say({ chat: ann.id, text: 'hers' });
    await double.acts.react({ chat: ann.id, id, emoji: '👍' });
    await connected(2);
    await double.waitFor(() => reactions.length === 2 && double.waiting().length === 0);
    expect(reactions[0]).toEqual(reactions[1]);
  });

  it('cannot react to a group message that it does not remember', async () => {
    const { group, react } = await changeScene();
    const reacting = react({ chatId: group.jid }, 'LONGAGO', '👍');
    expect(await readFailure(reacting)).toEqual({ kind: 'refused' });
  });

  it('reports when WhatsApp refuses a change', async () => {
    const { double, adapter, ann, edit } = await changeScene();
    const { platformMessageId } = await adapter.send(createPart(ann.id, 'x'), noSignal());
    double.fault({ kind: 'refuse', code: 403 });
    const editing = edit({ chatId: ann.id }, platformMessageId, { text: 'y', plain: 'y' });
    expect(await readFailure(editing)).toEqual({ kind: 'forbidden' });
  });
});

describe("people's changes to messages on WhatsApp", () => {
  it.each(['pn', 'lid'] as const)(
    '[F01] revise the message when it is edited or deleted in a direct chat by %s',
    async (addressing) => {
      const { double, received, said, revisions } = await changeScene();
      const cleo = double.addPerson({ addressing });
      const id = await said(cleo.id, cleo.id, 'helo');
      await double.acts.reword({ chat: cleo.id, id, text: 'hello' });
      await double.acts.takeBack({ chat: cleo.id, id });
      const [question] = received;
      expect(await revisions(2)).toEqual([
        { kind: 'edited', message: { ...question, text: 'hello' } },
        { kind: 'deleted', chatId: question?.chat.id, messageId: id },
      ]);
      expect(received).toHaveLength(1);
    },
  );

  it('[F06] can add a mention of the bot', async () => {
    const { double, ann, group, said, revisions } = await changeScene();
    const chat = group.jid;
    const id = await said(chat, ann.id, 'what is this?');
    await double.acts.reword({
      chat,
      from: ann.id,
      id,
      text: 'and this?',
      mentions: [double.me.id],
    });
    expect(await revisions(1)).toMatchObject([
      { kind: 'edited', message: { messageId: id, addressed: true } },
    ]);
  });

  it("cannot affect others' messages in a group, unless an admin deletes them", async () => {
    const { double, ann, bob, group, received, revised, said } = await changeScene();
    const chat = group.jid;
    const ofBob = await said(chat, bob.id, "Bob's");
    const ofAnn = await said(chat, ann.id, "Ann's");
    // Ann created the group.
    await double.acts.reword({ chat, from: ann.id, id: ofBob, text: 'forged' });
    await double.acts.reword({ chat, from: bob.id, id: ofAnn, text: 'forged' });
    await double.acts.takeBack({ chat, from: bob.id, id: ofAnn });
    await double.acts.takeBack({ chat, from: ann.id, id: ofBob });
    await said(chat, bob.id, 'last');
    expect(revised).toEqual([{ kind: 'deleted', chatId: chat, messageId: ofBob }]);
    expect(received.map(({ text }) => text)).toEqual(["Bob's", "Ann's", 'last']);
  });

  it('are not passed on from a person who may not write in the chat', async () => {
    const receive = async () => ({ kind: 'refused', reason: 'a stranger' }) as const;
    const { double, ann, revised, said } = await changeScene({ receive });
    const id = await said(ann.id, ann.id, 'let me in');
    await double.acts.reword({ chat: ann.id, id, text: 'please' });
    await said(ann.id, ann.id, 'now?');
    expect(revised).toEqual([]);
  });

  it('[D01] are delivered again when they could not be stored', async () => {
    let failures = 1;
    const revise = async () => {
      failures -= 1;
      if (failures >= 0) throw new Error('disk full');
    };
    const { double, ann, said, revisions } = await changeScene({ revise });
    const id = await said(ann.id, ann.id, 'helo');
    await double.acts.reword({ chat: ann.id, id, text: 'hello' });
    expect(await revisions(1)).toMatchObject([{ kind: 'edited', message: { text: 'hello' } }]);
    expect(failures).toBe(-1);
  });
});
