import { afterEach, describe, expect, it } from 'vitest';
import {
  closeTestDoubles,
  getRefusalData,
  startTelegramTestDouble,
} from './testing/telegraf-client.ts';

const ANN = 501;
const BO = 502;
const GROUP = -5;
afterEach(closeTestDoubles);

const only = (person: number, more: object = {}) => ({
  ephemeral_message_parameters: { receiver_user_id: person, ...more },
});
const answering = { reply_parameters: { ephemeral_message_id: 1 } };

async function whispered() {
  let now = 1_000_000;
  const { double, telegram } = await startTelegramTestDouble({ clock: () => now });
  double.say({ chat: ANN, text: 'hi' });
  double.say({ chat: GROUP, from: ANN, text: 'hi' });
  const asked = double.say({ chat: GROUP, from: ANN, text: '/status', ephemeral: true });
  const send = (payload: object) =>
    telegram.callApi('sendMessage', { chat_id: GROUP, text: 'x', ...payload } as never);
  return { double, telegram, asked, send, later: (ms: number) => (now += ms) };
}

describe('ephemeral messages of the Telegram double', () => {
  it('[F18] gives an ephemeral message the id 0 and a separate number, and shows it to one person only', async () => {
    const { double, asked, send } = await whispered();
    expect(asked).toMatchObject({ message_id: 0, ephemeral_message_id: 1 });
    const sent = await send({ ...only(ANN), ...answering });
    expect(sent).toMatchObject({
      message_id: 0,
      ephemeral_message_id: 2,
      receiver_user: { id: ANN },
    });
    expect(double.conversation(GROUP).slice(1)).toMatchObject([
      { text: '/status', onlyFor: ANN },
      { text: 'x', onlyFor: ANN },
    ]);
  });

  it.each<[string, object]>([
    ['a reply that everyone would see', answering],
    ['a reply to another person', { ...only(BO), ...answering }],
    ['an unprompted one from a bot that is not an administrator', only(ANN)],
    ['one without a person', { ephemeral_message_parameters: {} }],
    ['an unknown field', { ...only(ANN, { silent: true }), ...answering }],
    [
      'a reply to one that does not exist',
      { ...only(ANN), reply_parameters: { ephemeral_message_id: 9 } },
    ],
    ['an unknown button press', only(ANN, { callback_query_id: '1' })],
    ['a private chat', { ...only(ANN), chat_id: ANN }],
  ])('[F18] refuses an ephemeral message: %s', async (_name, payload) => {
    const { double, send } = await whispered();
    const before = double.conversation(GROUP).length;
    expect(await getRefusalData(send(payload))).toMatchObject({ code: 400 });
    expect(double.conversation(GROUP)).toHaveLength(before);
  });

  it('[F18] accepts ephemeral answers for 15 s, and later only from administrators', async () => {
    const { double, send, later } = await whispered();
    later(15_000);
    await send({ ...only(ANN), ...answering });
    later(1);
    expect(await getRefusalData(send({ ...only(ANN), ...answering }))).toMatchObject({ code: 400 });
    double.promote(GROUP, double.me.id);
    await send(only(ANN));
  });

  it("[F18] edits and deletes an ephemeral message by its number and the person's id", async () => {
    const { double, telegram, send } = await whispered();
    await send({ ...only(ANN), ...answering });
    const which = { chat_id: GROUP, receiver_user_id: ANN, ephemeral_message_id: 2 };
    const call = (method: string, payload: object) =>
      telegram.callApi(method as never, payload as never);
    await call('editEphemeralMessageText', { ...which, text: 'y' });
    expect(double.conversation(GROUP).at(-1)).toMatchObject({ text: 'y', edits: 1 });
    const others = { ...which, receiver_user_id: BO };
    expect(await getRefusalData(call('deleteEphemeralMessage', others))).toMatchObject({
      code: 400,
    });
    await call('deleteEphemeralMessage', which);
    expect(double.conversation(GROUP)).toHaveLength(2);
  });
});
