import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createFreshAuth, startScene, type TestScene } from './testing/test-scene.ts';

const Created = z.object({ id: z.string() });
const Group = z.object({ jid: z.string() });

/** Calls the control interface over HTTP, as another process would. */
function control({ double }: TestScene) {
  return async (path: string, body?: object) => {
    const init = body && { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(`${double.controlUrl}/${path}`, init);
    return { status: response.status, body: z.unknown().parse(await response.json()) };
  };
}

describe('the control interface of the WhatsApp double', () => {
  it('lets another process scan a code, send messages, inspect the state and wait', async () => {
    const scene = await startScene();
    const call = control(scene);
    const auth = createFreshAuth();
    const first = scene.connect({ auth });
    const qr = await first.waitFor(() => first.qr);
    expect((await call('status')).body).toMatchObject({ state: 'pairing' });
    expect(await call('scan', { qr })).toEqual({ status: 200, body: { done: true } });
    await first.waitFor(() => first.closedWith === 515);
    const client = scene.connect({ auth });
    await client.opened();
    const ann = Created.parse((await call('person', { name: 'Ann' })).body);
    const bob = Created.parse((await call('person', { addressing: 'lid' })).body);
    const me = scene.double.me.id;
    const group = Group.parse(
      (await call('group', { subject: 'Friends', members: [ann.id, bob.id, me] })).body,
    );
    await call('say', { chat: ann.id, text: 'over http' });
    await call('say', { chat: group.jid, from: bob.id, text: 'in the group', mentions: [me] });
    await client.waitFor(() => client.texts.length === 2);
    const answers = call('answers?after=0&wait=5000');
    await client.socket.sendMessage(ann.id, { text: '*seen*' });
    expect((await answers).body).toMatchObject([{ text: '*seen*', visible: 'seen', from: 'bot' }]);
    const { id } = Created.parse((await call('say', { chat: ann.id, text: 'oh' })).body);
    await call('reword', { chat: ann.id, id, text: 'ah' });
    await call('react', { chat: ann.id, id, emoji: '🙂' });
    await call('read', { chat: ann.id });
    expect((await call(`conversation?chat=${ann.id}`)).body).toMatchObject([
      { text: 'over http' },
      { text: '*seen*', readBy: [ann.id] },
      { text: 'ah', reactions: { [ann.id]: '🙂' } },
    ]);
    expect((await call('sends')).body).toMatchObject([{ to: ann.id, outcome: 'acked' }]);
    await call(`change-group?group=${group.jid}`, { kind: 'remove', who: [me] });
    await call('take-back', { chat: ann.id, id });
    await call('typing', { chat: ann.id });
    await client.waitFor(() => client.presences.length === 1);
    expect((await call('status')).body).toMatchObject({ state: 'open', problems: [] });
  });

  it('injects faults and rejects unknown actions', async () => {
    const scene = await startScene();
    const call = control(scene);
    const client = scene.connect();
    await client.opened();
    const ann = Created.parse((await call('person', {})).body);
    await call('fault', { kind: 'refuse', code: 463, chat: ann.id });
    const sent = await client.socket.sendMessage(ann.id, { text: 'x' });
    await client.waitFor(() => client.statuses(sent?.key.id).includes(0));
    await call('kick', { code: 503 });
    await client.waitFor(() => client.closedWith === 503);
    expect((await call('say', { chat: 'nobody', text: 'x' })).status).toBe(400);
    expect((await call('fault', { kind: 'weather' })).status).toBe(400);
    expect((await call('dance', {})).status).toBe(404);
  });
});
