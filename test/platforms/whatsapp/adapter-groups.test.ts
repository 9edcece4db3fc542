import { scaleRunCount } from '@parley/core/testing';
import { describe, expect, it } from 'vitest';
import { noSignal, readFailure } from '../adapter-core.ts';
import { createPart, openScene, type WhatsAppScene } from './adapter-scene.ts';

/** The number of people in a group, without the bot. Creating each person's keys takes a few ms. */
const MANY = scaleRunCount(499);

/** A scene with a group of Ann and the bot, known to the adapter. */
async function groupScene() {
  const open = await openScene();
  const { double } = open;
  const ann = double.addPerson({ name: 'Ann' });
  const bob = double.addPerson({ name: 'Bob' });
  const group = double.addGroup({ subject: 'G', members: [ann.id, double.me.id] });
  await double.waitFor(() => double.waiting().length === 0);
  const send = (text: string, adapter = open.adapter) =>
    adapter.send(createPart(group.jid, text), noSignal());
  const readers = () => double.sends().at(-1)?.readers;
  return { ...open, ann, bob, group, send, readers };
}

/** The number of requests for a single group. */
function questions({ double }: Pick<WhatsAppScene, 'double'>): number {
  return double
    .stanzas('iq')
    .filter(({ attrs, content }) => attrs.xmlns === 'w:g2' && tagsOf(content).includes('query'))
    .length;
}

function tagsOf(content: unknown): unknown[] {
  return Array.isArray(content) ? content.map(({ tag }) => tag) : [];
}

describe('groups on WhatsApp', () => {
  it('are requested once instead of for each message', async () => {
    const open = await groupScene();
    await open.send('one');
    await open.send('two');
    await open.send('three');
    expect(questions(open)).toBe(1);
    expect(open.double.conversation(open.group.jid)).toHaveLength(3);
  });

  it('[F11] include people who have joined, and exclude those who have left', async () => {
    const open = await groupScene();
    const { double, ann, bob, group, send, readers } = open;
    await send('one');
    expect(readers()).toEqual([ann.id]);
    double.changeGroup(group.jid, { kind: 'add', who: [bob.id] });
    await double.waitFor(() => double.waiting().length === 0);
    await send('two');
    expect(readers()).toEqual([ann.id, bob.id]);
    double.changeGroup(group.jid, { kind: 'remove', who: [bob.id] });
    await double.waitFor(() => double.waiting().length === 0);
    await send('three');
    expect(readers()).toEqual([ann.id]);
    expect(questions(open)).toBe(3);
  });

  it('[D05] do not need a query per message when they have very many people, whoever writes', async () => {
    // The server encrypts and decrypts for all people, in this process.
    const { double, adapter, received } = await openScene({ env: { ackTimeoutMs: 60_000 } });
    const members = Array.from({ length: MANY }, () => double.addPerson({ addressing: 'lid' }).id);
    const group = double.addGroup({ subject: 'G', members: [...members, double.me.id] });
    const queries = () =>
      double
        .stanzas('iq')
        .flatMap(({ attrs: { xmlns }, content }) =>
          xmlns === 'w:p' ? [] : [`${xmlns} ${tagsOf(content)}`],
        );
    await double.waitFor(() => double.waiting().length === 0);
    await adapter.send(createPart(group.jid, 'hello all'), noSignal());
    expect(double.sends().at(-1)?.readers).toHaveLength(MANY);
    const before = queries();
    // No query is needed if the group was among the groups requested at the start.
    expect(before.filter((query) => query === 'w:g2 query').length).toBeLessThanOrEqual(1);
    for (const [index, from] of members.slice(-2).entries()) {
      await double.say({ chat: group.jid, from, text: `from ${index}` });
      await double.waitFor(() => received.length === index + 1);
    }
    await adapter.send(createPart(group.jid, 'hello both'), noSignal());
    expect(queries()).toEqual(before);
    expect(double.conversation(group.jid)).toHaveLength(4);
    expect(double.sends().map(({ readers }) => readers.length)).toEqual([MANY, MANY]);
  }, 120_000);

  it('are requested again after a broken connection', async () => {
    const open = await groupScene();
    const { double, ann, bob, group, send, readers, connected } = open;
    await send('one');
    double.drop();
    double.changeGroup(group.jid, { kind: 'add', who: [bob.id] });
    await connected(2);
    await double.waitFor(() => double.waiting().length === 0);
    await send('two');
    expect(readers()).toEqual([ann.id, bob.id]);
  });

  it('cannot be written to after they removed the bot', async () => {
    const { double, group, send } = await groupScene();
    await send('one');
    double.changeGroup(group.jid, { kind: 'remove', who: [double.me.id] });
    await double.waitFor(() => double.waiting().length === 0);
    expect(await readFailure(send('two'))).toEqual({ kind: 'forbidden' });
  });

  it('report their new title', async () => {
    const { double, ann, group, received } = await groupScene();
    const chat = group.jid;
    double.changeGroup(chat, { kind: 'subject', subject: 'Another' });
    await double.waitFor(() => double.waiting().length === 0);
    await double.say({ chat, from: ann.id, text: 'where?' });
    await double.waitFor(() => received.length === 1);
    expect(received[0]?.chat.title).toBe('Another');
  });
});
