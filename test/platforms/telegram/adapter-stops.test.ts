import { createInMemoryAdapterValues } from '@parley/core/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { noSignal } from '../adapter-core.ts';
import { createPart } from './adapter-parts.ts';
import { endScenes, startTelegramScene } from './adapter-scene.ts';

const ANN = 501;
const ann = { chatId: String(ANN) };
const half = { show: async () => [{ text: 'half', plain: 'half' }] };

afterEach(endScenes);

describe('the stop button of a streamed answer', () => {
  it('[F18] is below each draft, and leaves the text so far visible', async () => {
    const { double, adapter } = await startTelegramScene();
    double.say({ chat: ANN, text: 'q' });
    await adapter.streaming?.update(ann, 't', half);
    expect(double.drafts()).toMatchObject([{ text: 'half', canStop: true, keepOnStop: true }]);
  });

  it('[F18] [F09] counts as /stop by that person in that chat', async () => {
    const { double, adapter, received } = await startTelegramScene();
    await adapter.start();
    double.say({ chat: { id: ANN, first_name: 'Ann', last_name: 'Lee', username: 'ann' } });
    await double.waitFor(() => received.length === 1);
    await adapter.streaming?.update(ann, 't', half);
    double.stopDraft(ANN);
    await double.waitFor(() => received.length === 2);
    expect(received[1]).toMatchObject({
      text: '/stop',
      authored: { text: true },
      chat: { id: '501', type: 'direct' },
      sender: { id: '501', name: 'Ann Lee', username: 'ann', isBot: false },
      addressed: true,
    });
    expect(received[1]?.chat).toEqual(received[0]?.chat);
  });

  it('[F18] [F17] stops in the topic of the private chat in which the answer is streamed', async () => {
    const { double, adapter, received } = await startTelegramScene();
    await adapter.start();
    double.say({ chat: ANN, thread: 7, text: 'q' });
    await double.waitFor(() => received.length === 1);
    await adapter.streaming?.update({ ...ann, threadId: '7' }, 't', half);
    double.stopDraft(ANN);
    await double.waitFor(() => received.length === 2);
    expect(received[1]?.chat.threadId).toBe(received[0]?.chat.threadId);
    expect(received[1]?.chat.threadId).toBe('7');
  });

  it('[F18] counts once when pressed twice, and separately for another answer', async () => {
    const { double, adapter, received } = await startTelegramScene();
    await adapter.start();
    double.say({ chat: ANN, text: 'q' });
    await adapter.streaming?.update(ann, 't', half);
    double.stopDraft(ANN);
    double.stopDraft(ANN);
    await adapter.streaming?.update(ann, 'next', half);
    double.stopDraft(ANN);
    await double.waitFor(() => received.length === 4);
    const ids = received.slice(1).map(({ messageId }) => messageId);
    expect(ids[0]).toBe(ids[1]);
    expect(ids[2]).not.toBe(ids[0]);
  });

  it('[F18] ends the draft of this answer, but not the draft of the next answer', async () => {
    const { double, adapter, received } = await startTelegramScene();
    await adapter.start();
    double.say({ chat: ANN, text: 'q' });
    await adapter.streaming?.update(ann, 't', half);
    double.stopDraft(ANN);
    await double.waitFor(() => received.length === 2);
    await adapter.streaming?.update(ann, 't', half);
    expect(double.drafts()).toHaveLength(1);
    await adapter.send(createPart(ANN, 'half<i>Stopped.</i>'), noSignal());
    await adapter.streaming?.update(ann, 'next', half);
    expect(double.drafts()).toHaveLength(2);
    expect(double.conversation(ANN).slice(1)).toMatchObject([{ text: 'halfStopped.' }]);
  });

  it('[F18] works after a restart, and with unknown fields', async () => {
    const { double, adapter, received } = await startTelegramScene({
      values: createInMemoryAdapterValues(),
    });
    await adapter.start();
    double.say({ chat: ANN, text: 'q' });
    const chat = { id: ANN, type: 'private', first_name: 'Ann', new_field: 1 };
    double.update('stopped_message_generation', { chat, draft_id: 99, other: {} });
    await double.waitFor(() => received.length === 2);
    expect(received[1]).toMatchObject({ messageId: 'stop:99', text: '/stop' });
  });
});
