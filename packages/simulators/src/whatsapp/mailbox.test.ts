import { describe, expect, it } from 'vitest';
import { startConnectedScene, startScene } from './testing/test-scene.ts';

describe('messages sent while the client is disconnected', () => {
  it('keeps messages and delivers them in order at the next login, marked as offline', async () => {
    const { double, client, connect } = await startConnectedScene();
    const ann = double.addPerson();
    const bob = double.addPerson();
    const group = double.addGroup({ subject: 'Friends', members: [ann.id, bob.id, double.me.id] });
    await double.say({ chat: ann.id, text: 'before' });
    await client.waitFor(() => client.texts.includes('before'));
    await double.waitFor(() => double.waiting().length === 0);
    await client.end();
    for (const text of ['one', 'two', 'three']) await double.say({ chat: ann.id, text });
    await double.say({ chat: group.jid, from: bob.id, text: 'in the group' });
    expect(double.waiting().map(({ tag }) => tag)).toEqual(Array(4).fill('message'));

    const again = connect();
    await again.waitFor(() => again.texts.length === 4);
    expect(again.texts).toEqual(['one', 'two', 'three', 'in the group']);
    expect(new Set(again.upserts.map(({ type }) => type))).toEqual(new Set(['append']));
    await double.say({ chat: ann.id, text: 'after' });
    await again.waitFor(() => again.texts.length === 5);
    expect(again.upserts.at(-1)?.type).toBe('notify');
    await double.waitFor(() => double.waiting().length === 0);
  });

  it('delivers all queued messages in order and only once', async () => {
    const { double, connect } = await startScene();
    const ann = double.addPerson();
    const numbers = Array.from({ length: 120 }, (_, nth) => String(nth));
    for (const text of numbers) await double.say({ chat: ann.id, text });
    const client = connect();
    await client.waitFor(() => client.texts.length >= 120);
    expect(client.texts).toEqual(numbers);
    await double.waitFor(() => double.waiting().length === 0);
    await client.end();
    const again = connect();
    await again.opened();
    await double.say({ chat: ann.id, text: 'new' });
    await again.waitFor(() => again.texts.length > 0);
    expect(again.texts).toEqual(['new']);
  });

  it('delivers receipts and group changes, but not typing states', async () => {
    const { double, client, connect } = await startConnectedScene();
    const ann = double.addPerson();
    const sent = await client.socket.sendMessage(ann.id, { text: 'hello' });
    await double.waitFor(() => double.conversation(ann.id).length === 1);
    await client.end();
    double.acts.read({ chat: ann.id });
    double.acts.type({ chat: ann.id }, 'composing');
    double.addGroup({ subject: 'New', members: [ann.id, double.me.id] });
    const again = connect();
    await again.waitFor(() => again.groups.length === 1 && again.statuses(sent?.key.id).length > 0);
    expect(again.presences).toEqual([]);
  });

  it('delivers messages again if the connection was dropped before the client confirmed them', async () => {
    const { double, client, connect } = await startConnectedScene();
    const ann = double.addPerson();
    double.fault({ kind: 'cut', chat: ann.id });
    await double.say({ chat: ann.id, text: 'in two pieces' });
    await client.waitFor(() => client.closedWith === 428);
    expect(client.texts).toEqual([]);
    const again = connect();
    await again.waitFor(() => again.texts.length > 0);
    expect(again.upserts).toMatchObject([{ type: 'append' }]);
    await double.waitFor(() => double.waiting().length === 0);
  });
});
