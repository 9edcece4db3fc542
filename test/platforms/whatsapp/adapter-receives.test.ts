import { whatsapp } from '@parley/channel-whatsapp';
import type { IngressOutcome } from '@parley/channels';
import type { InboundMessage } from '@parley/core';
import { createInMemoryAdapterValues } from '@parley/core/testing';
import { describe, expect, it } from 'vitest';
import { accepted, noSignal } from '../adapter-core.ts';
import { createPart, createScene, openScene } from './adapter-scene.ts';

describe('the WhatsApp adapter', () => {
  it('[F03] works from the pairing code to the first answer', async () => {
    const { double, adapter, states, received, connected } = await createScene({ unlinked: true });
    await adapter.start();
    const shown = await double.waitFor(() => states.find((state) => state.kind === 'pairing'));
    double.scan(shown.code);
    await connected();
    const ann = double.addPerson({ name: 'Ann' });
    await double.say({ chat: ann.id, text: 'hello 😀' });
    const question = await double.waitFor(() => received[0]);
    expect(question).toMatchObject({ text: 'hello 😀', sender: { name: 'Ann' }, addressed: true });
    await adapter.send(createPart(question.chat.id, 'hi *Ann*'), noSignal());
    expect(double.conversation(ann.id).at(-1)).toMatchObject({ from: 'bot', text: 'hi *Ann*' });
    expect(states.map(({ kind }) => kind)).toEqual(['starting', 'pairing', 'connected']);
  });

  it('[U02] [F03] is linked by a code typed on the phone, or by a new code once the first has expired', async () => {
    const settings = { phone: '+49 1500 000001' };
    const { double, adapter, states, connected, values } = await createScene({
      unlinked: true,
      settings,
    });
    const codes = () => states.flatMap((state) => (state.kind === 'pairing' ? [state] : []));
    await adapter.start();
    await double.waitFor(() => codes().length === 1);
    const env = { signal: noSignal(), clock: Date.now, values };
    await expect.poll(async () => (await values.get('credentials', ['credentials'])).size).toBe(1);
    expect(await whatsapp.probe({}, env)).toMatchObject({ kind: 'unlinked' });
    double.kick(408);
    const asked = () =>
      double.stanzas('iq').filter(({ attrs }) => attrs.xmlns === 'md' && attrs.type === 'set');
    await double.waitFor(() => codes().length === 2 && asked().length === 2);
    const [old, fresh] = codes();
    expect(fresh).toMatchObject({
      how: 'type',
      code: expect.stringMatching(/^[A-Z\d]{4}-[A-Z\d]{4}$/),
    });
    await expect(double.typeCode(old?.code ?? '')).rejects.toThrow('Wrong code');
    await double.typeCode(fresh?.code ?? '');
    await connected();
    expect(await whatsapp.probe({}, env)).toMatchObject({ kind: 'works' });
  });

  it('[U02] stops asking for codes when WhatsApp refuses the number, and reports the reason', async () => {
    const settings = { phone: '491500000001' };
    const { double, adapter, states, waits } = await createScene({ unlinked: true, settings });
    double.fault({ kind: 'query-error', xmlns: 'md', code: 429 });
    await adapter.start();
    const retrying = await double.waitFor(() => states.find(({ kind }) => kind === 'retrying'));
    expect(retrying).toMatchObject({
      reason: 'WhatsApp did not return a code for the number in channels.whatsapp.phone (429)',
    });
    expect(waits.length).toBeGreaterThan(0);
  });

  it('[F12] marks answered messages as read, but not the messages of people it does not answer', async () => {
    const outcomes: Record<string, IngressOutcome> = {
      stranger: { kind: 'refused', reason: 'x' },
      overheard: { kind: 'ignored', reason: 'x' },
      '/help': { kind: 'command', name: 'help' },
    };
    const receive = async ({ text }: InboundMessage) => outcomes[text] ?? accepted;
    const { double, received } = await openScene({ receive });
    const ann = double.addPerson({ name: 'Ann', addressing: 'lid' });
    const group = double.addGroup({ subject: 'G', members: [ann.id, double.me.id] });
    const chats = [ann.id, group.jid];
    const texts = ['stranger', 'overheard', '/help', 'hello'];
    for (const text of texts)
      for (const chat of chats) await double.say({ chat, from: ann.id, text });
    const read = (chat: string) =>
      double.conversation(chat).flatMap(({ text, readBy }) => (readBy.has('bot') ? [text] : []));
    await double.waitFor(() => chats.every((chat) => read(chat).includes('hello')));
    expect(chats.map(read)).toEqual([
      ['/help', 'hello'],
      ['/help', 'hello'],
    ]);
    expect(received).toHaveLength(8);
    await double.waitFor(() => double.waiting().length === 0);
  });

  it('[F12] marks nothing as read if the settings disable it', async () => {
    const { double, received } = await openScene({ settings: { readReceipts: false } });
    const ann = double.addPerson();
    await double.say({ chat: ann.id, text: 'hello' });
    await double.waitFor(() => received.length === 1 && double.waiting().length === 0);
    await double.say({ chat: ann.id, text: 'again' });
    await double.waitFor(() => received.length === 2 && double.waiting().length === 0);
    expect(double.stanzas('receipt').filter(({ attrs }) => attrs.type === 'read')).toEqual([]);
  });

  it('[F01] treats one person as one sender and one chat, whichever id is on a message', async () => {
    const { double, received } = await openScene();
    const ann = double.addPerson({ name: 'Ann', addressing: 'lid' });
    const bob = double.addPerson({ name: 'Bob', hidden: true });
    const group = double.addGroup({ subject: 'G', members: [ann.id, bob.id, double.me.id] });
    await double.say({ chat: ann.id, text: 'direct' });
    await double.say({ chat: group.jid, from: ann.id, text: 'in the group' });
    await double.say({ chat: group.jid, from: bob.id, text: 'no number' });
    await double.waitFor(() => received.length === 3);
    const number = ann.pn?.split('@')[0];
    expect(received).toMatchObject([
      { chat: { id: ann.pn, type: 'direct' }, sender: { id: number, username: ann.lid } },
      { chat: { id: group.jid, type: 'group' }, sender: { id: number, username: ann.lid } },
      { chat: { id: group.jid }, sender: { id: bob.lid } },
    ]);
  });

  it('[F05] recognizes a person by number even if only the identity is on a message', async () => {
    const { double, received, adapter, again, connected } = await openScene();
    const ann = double.addPerson({ addressing: 'lid' });
    const number = ann.pn?.split('@')[0] ?? '';
    const pn = ann.pn;
    await double.say({ chat: ann.lid, text: 'with the number' });
    double.showNumber(ann.lid, undefined);
    await double.say({ chat: ann.lid, text: 'without' });
    await double.waitFor(() => received.length === 2);
    await adapter.stop();
    await again();
    await connected(2);
    await double.say({ chat: ann.lid, text: 'after a restart' });
    await double.waitFor(() => received.length === 3);
    expect(received.map(({ sender, chat }) => [sender.id, chat.id])).toEqual([
      [number, pn],
      [number, pn],
      [number, pn],
    ]);
  });

  it("[F05] keeps a person's chat if they were allowed before their number was known", async () => {
    const { double, adapter, received } = await openScene();
    const ann = double.addPerson({ hidden: true });
    const bob = double.addPerson();
    const group = double.addGroup({ subject: 'G', members: [ann.id, bob.id, double.me.id] });
    await double.say({ chat: ann.lid, text: 'who am I?' });
    await double.waitFor(() => received.length === 1);
    double.showNumber(ann.lid, '491700000001');
    await double.say({ chat: ann.lid, text: 'still me' });
    await double.say({ chat: group.jid, from: ann.lid, text: 'here, too' });
    await double.say({ chat: group.jid, from: bob.id, text: 'see', mentions: [ann.lid, bob.id] });
    await double.waitFor(() => received.length === 4);
    expect(received.slice(0, 3)).toMatchObject([
      { chat: { id: ann.lid }, sender: { id: ann.lid } },
      { chat: { id: ann.lid }, sender: { id: ann.lid, username: '491700000001' } },
      { chat: { id: group.jid }, sender: { id: ann.lid } },
    ]);
    // A mention resolves to the same person as the sender.
    expect(received[3]?.mentions).toEqual([ann.lid, bob.pn?.split('@')[0]]);
    await adapter.send(createPart(ann.lid, 'hello'), noSignal());
    expect(double.conversation(ann.lid).at(-1)).toMatchObject({ from: 'bot', text: 'hello' });
  });

  it('[F05] recognizes by number a person who was refused before the number was known', async () => {
    const { double, received } = await openScene({
      receive: async () => ({ kind: 'refused', reason: 'a stranger' }),
    });
    const ann = double.addPerson({ hidden: true });
    await double.say({ chat: ann.lid, text: 'let me in' });
    await double.waitFor(() => received.length === 1);
    double.showNumber(ann.lid, '491700000001');
    await double.say({ chat: ann.lid, text: 'I am Ann' });
    await double.waitFor(() => received.length === 2);
    expect(received.map(({ sender }) => sender.id)).toEqual([ann.lid, '491700000001']);
  });

  it('[F06] recognizes which messages in a group are addressed to the bot', async () => {
    const { double, adapter, received } = await openScene();
    const ann = double.addPerson();
    const group = double.addGroup({ subject: 'Friends', members: [ann.id, double.me.id] });
    const chat = group.jid;
    await double.say({ chat, from: ann.id, text: 'to all' });
    await double.say({ chat, from: ann.id, text: 'to you', mentions: [double.me.id] });
    await double.waitFor(() => received.length === 2);
    const { platformMessageId } = await adapter.send(createPart(chat, 'yes?'), noSignal());
    await double.say({ chat, from: ann.id, text: 'as I said', quote: platformMessageId });
    await double.waitFor(() => received.length === 3);
    const me = double.me.pn ?? '';
    const byNumber = { text: '@me by number', contextInfo: { mentionedJid: [me] } };
    await double.acts.post({ chat, from: ann.id }, { extendedTextMessage: byNumber });
    await double.waitFor(() => received.length === 4);
    expect(received.map(({ text, addressed }) => [text.replace(/@\w+ /, ''), addressed])).toEqual([
      ['to all', false],
      ['to you', true],
      ['as I said', true],
      ['by number', true],
    ]);
    expect(received[2]?.replyTo).toMatchObject({ messageId: platformMessageId, text: 'yes?' });
  });

  it("[F07] ignores channels, statuses, lists, and the owner's messages on the phone", async () => {
    const { double, received } = await openScene();
    const ann = double.addPerson();
    for (const chat of ['status@broadcast', '77@broadcast', '88@newsletter'])
      await double.say({ chat, from: ann.id, text: 'not for us' });
    await double.acts.sayAsOwner({ chat: ann.id, text: 'mine' });
    const id = await double.say({ chat: ann.id, text: 'for us' });
    await double.acts.react({ chat: ann.id, id, emoji: '👍' });
    await double.acts.takeBack({ chat: ann.id, id });
    await double.say({ chat: ann.id, text: 'last' });
    await double.waitFor(() => received.length === 2 && double.waiting().length === 0);
    expect(received.map(({ text }) => text)).toEqual(['for us', 'last']);
  });

  it('[D01] receives messages in order that arrived while it was offline', async () => {
    const { double, adapter, again, texts, connected } = await openScene();
    const ann = double.addPerson();
    await double.say({ chat: ann.id, text: 'before' });
    await double.waitFor(() => texts().length === 1);
    await adapter.stop();
    const away = Array.from({ length: 20 }, (_, nth) => `away ${nth}`);
    for (const text of away) await double.say({ chat: ann.id, text });
    await again();
    await connected(2);
    await double.waitFor(() => texts().length === 21);
    expect(texts()).toEqual(['before', ...away]);
  });

  it('does not start with damaged credentials, and leaves them unchanged', async () => {
    const values = createInMemoryAdapterValues();
    await values.set([{ kind: 'credentials', id: 'credentials', value: '{"noiseKey":' }]);
    const { double, adapter, states } = await createScene({ values, unlinked: true });
    await adapter.start();
    const failed = await double.waitFor(() => states.find((state) => state.kind === 'failed'));
    expect(failed.reason).toContain('damaged');
    expect((await values.get('credentials', ['credentials'])).size).toBe(1);
    expect(double.state()).toBe('away');
  });
});
