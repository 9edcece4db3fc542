import type { WhatsAppDouble } from '@parley/simulators/whatsapp';
import { describe, expect, it } from 'vitest';
import { noSignal, readFailure } from '../adapter-core.ts';
import { createPart, createScene, openScene } from './adapter-scene.ts';

describe('sending to WhatsApp', () => {
  it('sends to a person, and waits until the server has the message', async () => {
    const { double, adapter } = await openScene();
    const ann = double.addPerson();
    double.fault({ kind: 'late-ack', ms: 200 });
    const { platformMessageId } = await adapter.send(createPart(ann.id, 'a _b_'), noSignal());
    expect(double.sends().at(-1)?.outcome).toBe('acked');
    expect(double.conversation(ann.id)).toMatchObject([{ id: platformMessageId, text: 'a _b_' }]);
  });

  it('sends an answer in a group that quotes the question', async () => {
    const { double, adapter, received } = await openScene();
    const ann = double.addPerson();
    const group = double.addGroup({ subject: 'G', members: [ann.id, double.me.id] });
    const id = await double.say({ chat: group.jid, from: ann.id, text: 'why?' });
    await double.waitFor(() => received.length === 1);
    await adapter.send(createPart(group.jid, 'because', { replyTo: id }), noSignal());
    await adapter.send(createPart(group.jid, 'long ago', { replyTo: 'UNKNOWN' }), noSignal());
    expect(double.conversation(group.jid).slice(1)).toMatchObject([
      { text: 'because', quoted: id },
      { text: 'long ago' },
    ]);
  });

  it('[G10] sends an answer in a direct chat that quotes the message chosen by the agent', async () => {
    const { double, adapter, received } = await openScene();
    const ann = double.addPerson();
    const id = await double.say({ chat: ann.id, from: ann.id, text: 'which one?' });
    await double.waitFor(() => received.length === 1);
    const chatId = received[0]?.chat.id ?? '';
    await adapter.send(createPart(chatId, 'that one', { replyTo: id }), noSignal());
    expect(double.conversation(ann.id).at(-1)).toMatchObject({ text: 'that one', quoted: id });
  });

  it('[G10] [F06] quotes and reacts in a group after a restart, and recognizes replies to what it quoted', async () => {
    const message = async (_chat: string, id: string) => (id === 'HELLO' ? stored : null);
    const { double, adapter, received, again, connected } = await openScene({ message });
    const ann = double.addPerson({ addressing: 'lid' });
    const stored = {
      ...({ by: 'person', senderName: 'Ann', text: 'why?', conversationId: 'c' } as const),
      senderId: ann.pn?.split('@')[0] ?? '',
    };
    const group = double.addGroup({ subject: 'G', members: [ann.id, double.me.id] });
    await double.say({ chat: group.jid, from: ann.id, text: 'why?', id: 'HELLO' });
    const first = await adapter.send(createPart(group.jid, 'soon'), noSignal());
    await double.waitFor(() => received.length === 1);
    await adapter.stop();
    const after = await again();
    await connected(2);
    await after.send(createPart(group.jid, 'because', { replyTo: 'HELLO' }), noSignal());
    const { contextInfo } = double.sends().at(-1)?.message?.extendedTextMessage ?? {};
    expect(contextInfo).toMatchObject({
      ...{ stanzaId: 'HELLO', participant: ann.lid },
      quotedMessage: { conversation: 'why?' },
    });
    await after.messages?.react?.({ chatId: group.jid }, 'HELLO', '👍');
    expect(double.conversation(group.jid)[0]?.reactions.get('bot')).toBe('👍');
    await double.say({
      chat: group.jid,
      from: ann.id,
      text: 'when?',
      quote: first.platformMessageId,
    });
    expect(await double.waitFor(() => received[1])).toMatchObject({
      ...{ text: 'when?', addressed: true },
      replyTo: { messageId: first.platformMessageId, text: 'soon' },
    });
  });

  it('[M05] notifies mentioned people only if the settings allow it', async () => {
    const { double, adapter, received } = await openScene();
    const ann = double.addPerson();
    const group = double.addGroup({ subject: 'G', members: [ann.id, double.me.id] });
    const id = await double.say({ chat: group.jid, from: ann.id, text: 'hi' });
    await double.waitFor(() => received.length === 1);
    const text = `hi @${ann.pn?.split('@')[0]}`;
    const dead = createPart(group.jid, text, { key: 'dead' });
    const target = { ...dead.route.target, mentions: 'live' } as const;
    const live = createPart(group.jid, text, { key: 'live', replyTo: id });
    await adapter.send(dead, noSignal());
    await adapter.send({ ...live, route: { ...live.route, target } }, noSignal());
    expect(double.conversation(group.jid).slice(1)).toMatchObject([
      { text, mentions: [] },
      { text, mentions: [ann.pn], quoted: id },
    ]);
  });

  it('[D04] shows the same part once when it is sent twice', async () => {
    const { double, adapter } = await openScene();
    const ann = double.addPerson();
    const once = createPart(ann.id, 'once', { key: 'k1' });
    const first = await adapter.send(once, noSignal());
    expect(await adapter.send(once, noSignal())).toEqual(first);
    await adapter.send(createPart(ann.id, 'other', { key: 'k2' }), noSignal());
    expect(double.conversation(ann.id).map(({ text }) => text)).toEqual(['once', 'other']);
  });

  it('[D04] reports an unknown outcome when the server did not confirm', async () => {
    const { double, adapter } = await openScene({ env: { ackTimeoutMs: 1_500 } });
    const ann = double.addPerson();
    double.fault({ kind: 'no-ack' });
    expect(await readFailure(adapter.send(createPart(ann.id, 'x'), noSignal()))).toEqual({
      kind: 'unknown-outcome',
    });
    await adapter.send(createPart(ann.id, 'x'), noSignal());
    expect(double.conversation(ann.id)).toHaveLength(1);
  });

  it('[D04] sends again when the connection broke before the confirmation', async () => {
    const { double, adapter, connected } = await openScene();
    const ann = double.addPerson();
    double.fault({ kind: 'drop' });
    const failure = await readFailure(adapter.send(createPart(ann.id, 'x'), noSignal()));
    expect(failure.kind).toBe('unknown-outcome');
    await connected(2);
    await adapter.send(createPart(ann.id, 'x'), noSignal());
    expect(double.conversation(ann.id)).toHaveLength(1);
  });

  it.each([
    [403, { kind: 'forbidden' }],
    [404, { kind: 'gone' }],
    [429, { kind: 'rate-limited', retryAfterMs: 60_000, scope: 'account' }],
    [463, { kind: 'forbidden' }],
    [479, { kind: 'refused' }],
    [503, { kind: 'transient' }],
  ])('reports the meaning of a refusal with %s', async (code, failure) => {
    const { double, adapter } = await openScene();
    const ann = double.addPerson();
    double.fault({ kind: 'refuse', code });
    expect(await readFailure(adapter.send(createPart(ann.id, 'x'), noSignal()))).toEqual(failure);
  });

  it('sends nothing while it is not connected, or after the send was aborted', async () => {
    const { double, adapter, connected } = await createScene();
    const ann = double.addPerson();
    const failure = { kind: 'transient', untried: true };
    expect(await readFailure(adapter.send(createPart(ann.id, 'x'), noSignal()))).toEqual(failure);
    await adapter.start();
    await connected();
    expect(await readFailure(adapter.send(createPart(ann.id, 'x'), AbortSignal.abort()))).toEqual(
      failure,
    );
    expect(double.sends()).toEqual([]);
  });

  it('sends content that a phone requests again, even after a restart', async () => {
    const { double, adapter, again, connected } = await openScene();
    const ann = double.addPerson();
    await adapter.send(createPart(ann.id, 'first'), noSignal());
    double.loseSessions(ann.id);
    await adapter.stop();
    const other = await again();
    await connected(2);
    await other.send(createPart(ann.id, 'second'), noSignal());
    await double.waitFor(() => double.conversation(ann.id).length === 2);
    expect(double.conversation(ann.id).map(({ text }) => text)).toEqual(['first', 'second']);
  });

  it('[F12] sends typing, and the end of typing', async () => {
    const { double, adapter, waits } = await openScene();
    const ann = double.addPerson();
    await adapter.typing?.show({ chatId: ann.id });
    await double.waitFor(() => typingOf(double).length === 2);
    expect(typingOf(double)).toEqual(['composing', 'paused']);
    expect(waits).toEqual([15_000]);
  });

  it("[D05] sends at a person's pace, typing longer before longer text", async () => {
    const waits: number[] = [];
    // The core would show typing for 15 s, but the message ends it.
    const wait = async (ms: number, signal: AbortSignal) => {
      waits.push(ms);
      if (ms >= 15_000) await once(signal);
    };
    const { double, adapter } = await openScene({ env: { wait } });
    const ann = double.addPerson();
    await adapter.typing?.show({ chatId: ann.id });
    await adapter.send(createPart(ann.id, 'hi'), noSignal());
    await adapter.send(createPart(ann.id, 'x'.repeat(4_000)), noSignal());
    await double.waitFor(() => typingOf(double).length === 5);
    expect(typingOf(double)).toEqual(['composing', 'composing', 'paused', 'composing', 'paused']);
    expect(waits.filter((ms) => ms < 15_000)).toEqual([212, 1_500]);
  });

  it('[D05] sends nothing when it is stopped while typing', async () => {
    const stopping = new AbortController();
    const wait = async () => stopping.abort();
    const { double, adapter } = await openScene({ env: { wait } });
    const sending = adapter.send(createPart(double.addPerson().id, 'x'), stopping.signal);
    expect(await readFailure(sending)).toEqual({ kind: 'transient', untried: true });
    expect(double.sends()).toEqual([]);
  });
});

/** The typing states that the bot sent, in order. */
function typingOf(double: WhatsAppDouble): string[] {
  return double
    .stanzas('chatstate')
    .flatMap(({ content }) => (Array.isArray(content) ? content.map(({ tag }) => tag) : []));
}

function once(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
