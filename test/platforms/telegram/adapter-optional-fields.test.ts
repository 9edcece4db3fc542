import {
  addSample,
  OPTIONAL,
  OPTIONAL_FIELDS,
  type TelegramDouble,
} from '@parley/simulators/telegram';
import { afterEach, expect, it } from 'vitest';
import { endScenes, startTelegramScene } from './adapter-scene.ts';

afterEach(endScenes);

const GROUP = { id: -1_000_000_000_005, type: 'supergroup', title: 'Family' };
const ANN = { id: 501, is_bot: false, first_name: 'Ann' };
const FILE = { file_id: 'f', file_unique_id: 'u' };
const MEMBER = { user: ANN, status: 'member' };

/** One event of each kind, in a separate chat, with as few fields as possible. */
function leanEvents(chatId: number): readonly (readonly [kind: string, content: object])[] {
  const chat = { id: chatId, type: 'private', first_name: 'Ann' };
  const said = { message_id: 9, date: 1, chat, from: ANN };
  const text = { ...said, text: 'words', entities: [{ type: 'bold', offset: 0, length: 1 }] };
  const files = {
    photo: [{ ...FILE, width: 1, height: 1 }],
    sticker: { ...FILE, type: 'regular', width: 1, height: 1, is_animated: false, is_video: false },
    ...{ document: FILE, voice: FILE, audio: FILE, video: FILE, video_note: FILE, animation: FILE },
  };
  const forward_origin = { type: 'hidden_user', date: 1, sender_user_name: 'Bo' };
  const answered = { ...text, chat: GROUP, forward_origin, quote: { text: 'w', position: 0 } };
  const who = { chat, from: ANN, date: 1 };
  return [
    ['message', text],
    ['message', { ...answered, message_id: 10, reply_to_message: text }],
    ['message', { ...said, message_id: 11, forum_topic_created: { name: 'Trips', icon_color: 1 } }],
    ...Object.entries(files).map(([name, file], index) => {
      return ['message', { ...said, message_id: 20 + index, [name]: file }] as const;
    }),
    ['edited_message', { ...text, edit_date: 2 }],
    [
      'callback_query',
      { id: `q${chatId}`, from: ANN, chat_instance: 'c', data: 'd', message: text },
    ],
    ['my_chat_member', { ...who, old_chat_member: MEMBER, new_chat_member: MEMBER }],
    [
      'message_reaction',
      {
        ...{ chat, message_id: 9, user: ANN, date: 1, old_reaction: [] },
        new_reaction: [{ type: 'emoji', emoji: '👍' }],
      },
    ],
  ];
}

const FIELDS = Object.entries(OPTIONAL_FIELDS).flatMap(([kind, samples]) =>
  Object.keys(samples).map((name) => [kind as keyof typeof OPTIONAL_FIELDS, name] as const),
);

/** Sends the events with that field added to objects of its kind that lack the field. */
function sendWith(double: TelegramDouble, chatId: number, [kind, name]: (typeof FIELDS)[number]) {
  for (const [update, content] of leanEvents(chatId))
    double.update(update, addSample(kind, name, update, content));
}

it.each(OPTIONAL)(
  '[D12] [F04] Telegram: nothing is missed when optional fields are %s',
  async (optional) => {
    const { double, adapter, received, ignored, revised, reactions, logged } =
      await startTelegramScene({
        double: { optional },
      });
    await adapter.start();
    const said = double.say({ chat: 1001, text: 'alone' });
    double.say({ chat: -1_001_234_567_890, from: 1002, text: 'in a group', replyTo: undefined });
    const file = { kind: 'document', name: 'a.txt', bytes: Buffer.from('a') } as const;
    double.say({ chat: 1001, text: 'a file', file });
    double.reword(1001, said.message_id, 'said again');
    await double.waitFor(() => received.length >= 3 && revised.length > 0);
    for (const [kind, content] of leanEvents(10_000)) double.update(kind, content);
    await double.waitFor(() => double.pendingUpdates().length === 0);
    // The message that created a topic does not start a turn.
    expect(ignored).toHaveLength(1);
    expect([received.length, revised.length, reactions.length]).toEqual([3 + 11, 2, 1]);
    expect(received.filter(({ attachments = [] }) => attachments.length > 0)).toHaveLength(9);
    received.splice(3);
    expect(received.map(({ chat }) => chat.type)).toEqual(['direct', 'group', 'direct']);
    expect(received.map(({ sender }) => sender.isBot)).toEqual([false, false, false]);
    expect(received.at(-1)?.attachments).toHaveLength(1);
    expect(logged.join()).not.toContain('not understood');
  },
);

it('[D12] [F04] Telegram: nothing is missed with any single optional field of the client’s types', async () => {
  const { double, adapter, received, ignored, revised, reactions, logged } =
    await startTelegramScene();
  double.say({ chat: 1001, text: 'first' });
  await adapter.start();
  await double.waitFor(() => received.length === 1);
  for (const [index, field] of FIELDS.entries()) sendWith(double, 10_000 + index, field);
  await double.waitFor(() => double.pendingUpdates().length === 0);
  expect(logged.filter((line) => line.includes('not understood'))).toEqual([]);
  // Each run sends ten messages, a button press, a topic creation, an edit, and a reaction. Some
  // fields turn events into messages.
  const all = received.length - 1 + ignored.length + revised.length + reactions.length;
  expect(all).toBe((12 + 1 + 1) * FIELDS.length);
  expect(reactions).toHaveLength(FIELDS.length);
});
