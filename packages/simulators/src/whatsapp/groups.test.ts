import { describe, expect, it } from 'vitest';
import { startConnectedScene, type TestScene } from './testing/test-scene.ts';

function friends({ double }: TestScene) {
  const ann = double.addPerson({ name: 'Ann' });
  const bob = double.addPerson({ name: 'Bob' });
  const group = double.addGroup({ subject: 'Friends', members: [ann.id, bob.id, double.me.id] });
  return { ann, bob, group };
}

describe('group messages of the WhatsApp double', () => {
  it("delivers members' messages and shows the bot's answer to everyone", async () => {
    const scene = await startConnectedScene();
    const { double, client } = scene;
    const { ann, bob, group } = friends(scene);
    await double.say({
      chat: group.jid,
      from: ann.id,
      text: 'hello bot',
      mentions: [double.me.id],
    });
    await double.say({ chat: group.jid, from: bob.id, text: 'and me' });
    await double.say({ chat: group.jid, from: ann.id, text: 'again' });
    await client.waitFor(() => client.texts.length === 3);
    const said = client.upserts.filter(({ type }) => type === 'notify');
    expect(said.map(({ message }) => message)).toMatchObject([
      {
        key: {
          remoteJid: group.jid,
          participant: ann.lid,
          participantAlt: ann.pn,
          addressingMode: 'lid',
        },
        pushName: 'Ann',
        message: {
          extendedTextMessage: {
            text: '@10000000000001 hello bot',
            contextInfo: { mentionedJid: [double.me.lid] },
          },
        },
      },
      { key: { participant: bob.lid }, message: { conversation: 'and me' } },
      { key: { participant: ann.lid }, message: { conversation: 'again' } },
    ]);
    const [first] = said;
    await client.socket.sendMessage(
      group.jid,
      { text: `hello @${ann.lid.split('@')[0]}`, mentions: [ann.lid] },
      first === undefined ? {} : { quoted: first.message },
    );
    await client.socket.sendMessage(group.jid, { text: 'second' });
    await double.waitFor(() => double.conversation(group.jid).length === 5);
    expect(double.conversation(group.jid).slice(3)).toMatchObject([
      { from: 'bot', mentions: [ann.lid], quoted: first?.message.key.id },
      { from: 'bot', text: 'second' },
    ]);
    expect(double.sends()).toMatchObject([
      { to: group.jid, readers: [ann.id, bob.id], unreadable: [], outcome: 'acked' },
      { to: group.jid, devices: [], readers: [ann.id, bob.id], outcome: 'acked' },
    ]);
    expect(double.transcript.problems).toEqual([]);
  });

  it('sends the sender key to new members and excludes people who left', async () => {
    const scene = await startConnectedScene();
    const { double, client } = scene;
    const { ann, bob, group } = friends(scene);
    await client.socket.sendMessage(group.jid, { text: 'one' });
    await double.waitFor(() => double.conversation(group.jid).length === 1);
    const cyn = double.addPerson({ name: 'Cyn' });
    double.changeGroup(group.jid, { kind: 'add', who: [cyn.id] });
    double.changeGroup(group.jid, { kind: 'remove', who: [bob.id] });
    await client.socket.sendMessage(group.jid, { text: 'two' });
    await double.waitFor(() => double.conversation(group.jid).length === 2);
    expect(double.sends().map(({ readers }) => readers)).toEqual([
      [ann.id, bob.id],
      [ann.id, cyn.id],
    ]);
    expect(double.sends()[1]?.devices).toEqual([cyn.lid]);
  });

  it('lets members react to, edit and delete messages', async () => {
    const scene = await startConnectedScene();
    const { double, client } = scene;
    const { ann, bob, group } = friends(scene);
    const place = { chat: group.jid, from: ann.id };
    const id = await double.say({ ...place, text: 'hello' });
    await double.acts.reword({ ...place, id, text: 'hello all' });
    await double.acts.react({ chat: group.jid, from: bob.id, id, emoji: '👍' });
    await double.acts.takeBack({ ...place, id });
    await client.waitFor(() => client.upserts.filter(({ type }) => type === 'notify').length === 4);
    const reaction = client.upserts.find(
      ({ message }) => message.message?.reactionMessage,
    )?.message;
    expect(reaction).toMatchObject({
      key: { participant: bob.lid },
      message: { reactionMessage: { key: { id, participant: ann.lid, fromMe: false } } },
    });
    expect(double.conversation(group.jid)).toMatchObject([
      { deleted: true, edits: 1, reactions: new Map([[bob.id, '👍']]) },
    ]);
    await expect(double.say({ chat: group.jid, text: 'who?' })).rejects.toThrow('Name the author');
    const stranger = double.addPerson();
    await expect(double.say({ chat: group.jid, from: stranger.id, text: 'x' })).rejects.toThrow(
      'not in',
    );
  });
});

describe('group changes in the WhatsApp double', () => {
  it('reports changes to the bot: being added, people joining and leaving, a new subject', async () => {
    const scene = await startConnectedScene();
    const { double, client } = scene;
    const { ann, bob, group } = friends(scene);
    await client.waitFor(() => client.groups.length === 1);
    expect(client.groups[0]).toMatchObject({
      id: group.jid,
      subject: 'Friends',
      addressingMode: 'lid',
      owner: ann.lid,
      participants: [
        { id: ann.lid, phoneNumber: ann.pn, admin: 'admin' },
        { id: bob.lid, phoneNumber: bob.pn, admin: null },
        { id: double.me.lid, phoneNumber: double.me.pn },
      ],
    });
    const cyn = double.addPerson();
    double.changeGroup(group.jid, { kind: 'add', who: [cyn.id] });
    double.changeGroup(group.jid, { kind: 'promote', who: [cyn.id] });
    double.changeGroup(group.jid, { kind: 'remove', who: [bob.id], by: cyn.id });
    double.changeGroup(group.jid, { kind: 'subject', subject: 'Best friends' });
    await client.waitFor(() => client.participants.length === 3);
    expect(client.participants).toMatchObject([
      { id: group.jid, action: 'add', author: ann.lid, participants: [{ id: cyn.lid }] },
      { action: 'promote', participants: [{ id: cyn.lid }] },
      { action: 'remove', author: cyn.lid, participants: [{ id: bob.lid }] },
    ]);
    const metadata = await client.socket.groupMetadata(group.jid);
    expect(metadata).toMatchObject({ subject: 'Best friends', size: 3 });
    expect(Object.keys(await client.socket.groupFetchAllParticipating())).toEqual([group.jid]);
  });

  it('prevents a bot outside a group, or removed from it, from writing in the group', async () => {
    const scene = await startConnectedScene();
    const { double, client } = scene;
    const { ann, bob, group } = friends(scene);
    const closed = double.addGroup({ subject: 'Closed', members: [ann.id, bob.id] });
    await expect(client.socket.groupMetadata(closed.jid)).rejects.toThrow('forbidden');
    await expect(client.socket.groupMetadata('1@g.us')).rejects.toThrow('item-not-found');
    const metadata = await client.socket.groupMetadata(group.jid);
    await client.socket.groupLeave(group.jid);
    await expect(client.socket.sendMessage(group.jid, { text: 'x' })).rejects.toThrow('forbidden');
    // A client that still considers itself a member is corrected by the response to its message.
    const believer = scene.connect({ cachedGroupMetadata: async () => metadata });
    await believer.opened();
    const sent = await believer.socket.sendMessage(group.jid, { text: 'x' });
    await believer.waitFor(() => believer.statuses(sent?.key.id).includes(0));
    expect(double.sends().at(-1)?.outcome).toBe(403);
    double.changeGroup(group.jid, { kind: 'add', who: [double.me.id] });
    await believer.waitFor(() => believer.groups.length === 1);
  });

  it('allows only admins to write in an announcement group', async () => {
    const scene = await startConnectedScene();
    const { double, client } = scene;
    const ann = double.addPerson();
    const members = [ann.id, double.me.id];
    const group = double.addGroup({ subject: 'News', members, announce: true });
    expect(await client.socket.groupMetadata(group.jid)).toMatchObject({ announce: true });
    await client.socket.sendMessage(group.jid, { text: 'x' });
    await double.waitFor(() => double.sends().length === 1);
    expect(double.sends()[0]?.outcome).toBe(403);
    double.changeGroup(group.jid, { kind: 'promote', who: [double.me.id] });
    await client.socket.sendMessage(group.jid, { text: 'y' });
    await double.waitFor(() => double.conversation(group.jid)[0]?.text === 'y');
  });
});
