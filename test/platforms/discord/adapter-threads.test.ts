import { afterEach, describe, expect, it } from 'vitest';
import { ANN, type DiscordScene, endScenes, startDiscordScene } from './adapter-scene.ts';

const BEN = '200000000000000502';
const THREADS = { settings: { threads: 'per-conversation' } };
afterEach(endScenes);

const shownIn = ({ double }: DiscordScene, channel: string) =>
  double.conversation(channel).map(({ from, visible }) => (from === 'bot' ? visible : '·'));
const starts = ({ double }: DiscordScene) =>
  double.calls('POST /channels/').filter(({ call }) => call.endsWith('/threads'));

async function asked(
  wishes: Parameters<typeof startDiscordScene>[0] = {},
  text = 'plan my trip, please',
) {
  const here = await startDiscordScene({ ...THREADS, ...wishes });
  await here.connect();
  const { double } = here;
  const say = (words: string) =>
    double.say({ channel: double.channelId, from: ANN, text: `<@${double.me.id}> ${words}` }).id;
  const id = say(text);
  await here.hears(1);
  return { here, double, id, say };
}

describe('[F11] a thread for each conversation on Discord', () => {
  it('is started from the question by the answer, and continues without mentions', async () => {
    const { here, double, id } = await asked();
    const thread = { id: double.channelId, type: 'thread', threadId: id };
    expect(here.received[0]?.chat).toEqual({
      ...thread,
      title: 'Test guild #general › #plan my trip, please',
    });
    await here.adapter.typing?.show({
      chatId: double.channelId,
      threadId: id,
      replyToMessageId: id,
    });
    await here.answers(id, 'Where to?');
    await here.answers(id, 'And when?', { index: 1, idempotencyKey: 'second' });
    expect(shownIn(here, double.channelId)).toEqual(['·']);
    expect(shownIn(here, id)).toEqual(['Where to?', 'And when?']);
    expect(starts(here)).toMatchObject([{ body: { name: 'plan my trip, please' } }]);
    double.say({ channel: id, from: ANN, text: 'to Ravenna' });
    double.say({ channel: id, from: BEN, text: `<@${ANN}> really?` });
    await here.hears(3);
    expect(here.received.slice(1)).toMatchObject([
      { chat: here.received[0]?.chat ?? {}, text: 'to Ravenna', addressed: true },
      { chat: thread, addressed: false },
    ]);
    const other = double.thread({ channel: double.channelId, name: 'own plans', from: BEN });
    double.say({ channel: other, from: BEN, text: 'not for the bot' });
    expect(await here.hears(4)).toMatchObject({ chat: { threadId: other }, addressed: false });
  });

  it('is the same after a crash, even while an answer is streamed', async () => {
    const { here, double, id } = await asked();
    await here.answers(id, 'Where to?');
    await here.adapter.stop();
    const after = await startDiscordScene({ ...THREADS, on: double, heard: here.received });
    const text = 'x'.repeat(100);
    const address = { chatId: double.channelId, threadId: id, replyToMessageId: id };
    const grown = { show: async () => [{ text, plain: text }] };
    await after.adapter.streaming?.update(address, 'turn_1', grown);
    await after.answers(id, `${text}!`);
    expect(shownIn(after, id)).toEqual(['Where to?', `${text}!`]);
    await after.adapter.messages?.react?.(address, id, '👀');
    expect(double.calls('PUT ').at(-1)?.call).toContain(`/channels/${double.channelId}/`);
  });

  it('is replaced by the channel if the permission is missing, and the owner is notified', async () => {
    const { here, double, id, say } = await asked();
    double.deny(double.channelId, 'openThread');
    const second = say('and a hotel');
    await here.hears(2);
    await here.answers(id, 'Where to?');
    await here.answers(second, 'Which?', { idempotencyKey: 'second' });
    expect(shownIn(here, double.channelId)).toEqual(['·', '·', 'Where to?', 'Which?']);
    expect(double.sends()[0]).toMatchObject({ replyTo: id });
    // The core sends a notice once per key.
    const note = `no threads ${double.channelId}`;
    expect(here.notes).toEqual([note, note]);
  });

  it('is not needed for a message that was deleted in the meantime', async () => {
    const { here, double, id } = await asked();
    double.erase(double.channelId, id);
    await here.answers(id, 'Where to?');
    expect(shownIn(here, double.channelId)).toEqual(['Where to?']);
    expect(here.notes).toEqual([]);
  });

  it('is retried when Discord does not respond', async () => {
    const { here, double, id } = await asked();
    double.fault({ kind: 'status', status: 500, call: 'POST /channels/' });
    await expect(here.answers(id, 'Where to?')).rejects.toMatchObject({
      failure: { kind: 'unknown-outcome' },
    });
    await here.answers(id, 'Where to?');
    expect(shownIn(here, id)).toEqual(['Where to?']);
  });

  it.each([
    [`please ${'plan '.repeat(30)}`, /^please( plan)+ …$/],
    [`ask <@${BEN}> and @everyone`, /^ask @user0502 and @everyone$/],
    ['', /^user0501$/],
  ])('is named after the first words without pinging anyone: %j', async (text, name) => {
    const { here, id } = await asked({}, text);
    await here.answers(id, 'Yes?');
    const [start] = starts(here);
    expect(start?.body).toEqual({ name: expect.stringMatching(name) });
    expect(JSON.stringify(start?.body).length).toBeLessThan(100);
  });

  it('is only opened if the settings say so', async () => {
    const { here, double, id } = await asked({ settings: {} });
    expect(here.received[0]?.chat.type).toBe('group');
    await here.answers(id, 'Where to?');
    expect(shownIn(here, double.channelId)).toEqual(['·', 'Where to?']);
  });
});
