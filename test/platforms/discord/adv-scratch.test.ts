import { afterEach, expect, it } from 'vitest';
import { ANN, endScenes, scene, part } from './adapter-scene.ts';
import { noSignal } from '../adapter-core.ts';

afterEach(endScenes);

it('answer to the first message of a forum post', async () => {
  const here = await scene();
  await here.connect();
  const { double } = here;
  const forum = double.addChannel(double.guildId, 'questions', 'forum');
  const post = double.thread({ channel: forum, name: 'How?', from: ANN, text: 'Like this?' });
  const m = await here.hears(1);
  console.log(JSON.stringify(m.chat), m.messageId, post);
  try { await here.answers(m.messageId, 'Yes'); } catch (e) { console.log('ERR', String(e)); }
  console.log(JSON.stringify(double.conversation(post).map((x) => x.visible)));
  try { await here.adapter.messages?.react?.({ chatId: m.chat.id, threadId: m.chat.threadId }, m.messageId, '👍'); } catch (e) { console.log('ERR react', String(e)); }
});

it('press below ephemeral', async () => {
  const here = await scene({ commands: [{ name: 'status', summary: 'x', private: true }] });
  await here.connect();
  const { double } = here;
  await double.waitFor(() => double.calls('PUT /applications/').length > 0);
  const id = double.slash({ channel: double.channelId, from: ANN, name: 'status' });
  await here.hears(1);
  const buttons = [{ label: 'More', data: '/status more' }];
  const { platformMessageId } = await here.answers(id, 'I am well', { buttons });
  const press = double.press({ channel: double.channelId, from: ANN, message: platformMessageId, customId: '0:/status more' });
  const m = await here.hears(2);
  console.log('RESP', m.response);
  await double.waitFor(() => double.interaction(press).answered);
  await here.answers(press, 'secret details', { idempotencyKey: 'b' });
  console.log(JSON.stringify(double.conversation(double.channelId).map((x) => x.visible)));
});

it('unknown button is noted', async () => {
  const here = await scene();
  await here.connect();
  const { double, adapter } = here;
  const sent = await adapter.send(part(double.channelId, 'hi', { buttons: [{ label: 'A', data: 'x' }] }), noSignal());
  void sent;
  for (const d of [
    { custom_id: 'foreign' },
  ]) {
    double.event('INTERACTION_CREATE', { id: '1500000000000000001', application_id: double.me.id, type: 3, token: 't', channel_id: double.channelId, guild_id: double.guildId, member: { user: { id: ANN, username: 'ann' }, roles: [] }, message: { id: '5' }, data: d }, double.guildId);
  }
  double.event('INTERACTION_CREATE', { id: '1500000000000000002', type: 3, channel_id: double.channelId }, double.guildId);
  double.say({ channel: double.channelId, from: ANN, text: 'end' });
  await here.hears(1);
  console.log(JSON.stringify(here.ignored));
});

it('voice channel chat, slash where bot cannot write', async () => {
  const here = await scene({ commands: [{ name: 'new', summary: 'x' }] });
  await here.connect();
  const { double } = here;
  await double.waitFor(() => double.calls('PUT /applications/').length > 0);
  const voice = double.addChannel(double.guildId, 'Lounge', 'voice');
  double.say({ channel: voice, from: ANN, text: 'hello' });
  console.log(JSON.stringify((await here.hears(1)).chat));
  double.deny(double.channelId, 'send');
  const id = double.slash({ channel: double.channelId, from: ANN, name: 'new' });
  await here.hears(2);
  await here.answers(id, 'one');
  try { await here.answers(id, 'two', { id: 'p2', index: 1, idempotencyKey: 's' }); } catch (e) { console.log('ERR', String(e)); }
  console.log(JSON.stringify(double.conversation(double.channelId).map((x) => x.visible)));
});
