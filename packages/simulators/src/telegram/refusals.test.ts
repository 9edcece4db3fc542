import { Telegraf } from 'telegraf';
import { afterEach, describe, expect, it } from 'vitest';
import { REAL_LIMITS } from './faults.ts';
import {
  closeTestDoubles,
  getRefusalData,
  startTelegramTestDouble,
} from './testing/telegraf-client.ts';

const ANN = 501;
afterEach(closeTestDoubles);

describe('validation of calls in the Telegram double', () => {
  it.each([
    ['an empty text', { text: '' }, 'Bad Request: message text is empty'],
    ['white space', { text: ' \n ' }, 'Bad Request: message text is empty'],
    ['only tags', { text: '<b> </b>', parse_mode: 'HTML' }, 'Bad Request: message text is empty'],
    ['4,097 characters', { text: 'x'.repeat(4097) }, 'Bad Request: message is too long'],
    [
      'bad markup',
      { text: 'a<br>b', parse_mode: 'HTML' },
      'Bad Request: can\'t parse entities: Unsupported start tag "br" at byte offset 1',
    ],
    ['an unknown chat', { chat_id: 404, text: 'x' }, 'Bad Request: chat not found'],
    ['no chat', { chat_id: undefined, text: 'x' }, 'Bad Request: chat_id is empty'],
    [
      'a reply to a missing message',
      { text: 'x', reply_parameters: { message_id: 9999 } },
      'Bad Request: message to be replied not found',
    ],
  ])('refuses %s', async (_name, payload, description) => {
    const { double, telegram } = await startTelegramTestDouble();
    double.say({ chat: ANN, text: 'hi' });
    const call = telegram.callApi('sendMessage', { chat_id: ANN, ...payload } as never);
    expect(await getRefusalData(call)).toMatchObject({ code: 400, description });
  });

  it.each<[string, object, string]>([
    ['without the topic of a subscriber', { chat_id: -8 }, 'DIRECT_MESSAGES_TOPIC_REQUIRED'],
    [
      'to an unknown subscriber',
      { chat_id: -8, direct_messages_topic_id: 9 },
      'direct messages topic not found',
    ],
    [
      'to a subscriber of a chat without any',
      { chat_id: ANN, direct_messages_topic_id: 7 },
      'the chat is not a direct messages chat',
    ],
    ['to a customer without the connection', { chat_id: 502 }, 'chat not found'],
    [
      'through an unknown connection',
      { chat_id: 502, business_connection_id: 'other' },
      'BUSINESS_CONNECTION_INVALID',
    ],
    [
      'to a person who is not a customer',
      { chat_id: ANN, business_connection_id: 'shop' },
      'BUSINESS_PEER_INVALID',
    ],
    [
      'where the account does not allow replies',
      { chat_id: 502, business_connection_id: 'mute' },
      'BOT_ACCESS_FORBIDDEN',
    ],
  ])('[F17] refuses a message %s', async (_name, place, reason) => {
    const { double, telegram } = await startTelegramTestDouble();
    double.connectBusiness({ id: 'shop' });
    double.connectBusiness({ id: 'mute', canReply: false });
    double.say({ chat: ANN, text: 'hi' });
    double.say({ chat: { id: -8, type: 'supergroup' }, from: ANN, subscriber: 7, text: 'hi' });
    for (const business of ['shop', 'mute']) double.say({ chat: 502, business, text: 'hi' });
    const call = telegram.callApi('sendMessage', { ...place, text: 'x' } as never);
    expect(await getRefusalData(call)).toMatchObject({
      code: 400,
      description: `Bad Request: ${reason}`,
    });
  });

  it("[F17] accepts one answer to a guest's question", async () => {
    const { double, telegram } = await startTelegramTestDouble();
    double.say({ chat: -77, guest: 'q', text: 'who?' });
    const answer = (query: string) => {
      const input_message_content = { message_text: 'you' };
      const result = { type: 'article', id: '1', title: 't', input_message_content };
      const payload = { guest_query_id: query, result };
      return telegram.callApi('answerGuestQuery' as never, payload as never);
    };
    expect(await answer('q')).toEqual({ inline_message_id: expect.any(String) });
    expect(double.guestAnswer('q')).toBe('you');
    expect(await getRefusalData(answer('q'))).toMatchObject({ code: 400 });
    expect(await getRefusalData(answer('other'))).toMatchObject({ code: 400 });
  });

  it.each<[string, object, boolean]>([
    ['green', { style: 'success' }, true],
    ['red', { style: 'danger' }, true],
    ['blue', { style: 'primary' }, true],
    ['an unknown style', { style: 'secondary' }, false],
    ['an unknown field', { color: 'red' }, false],
  ])('validates the style of buttons: %s', async (_name, more, isTaken) => {
    const { double, telegram } = await startTelegramTestDouble();
    double.say({ chat: ANN, text: 'hi' });
    const key = { text: 'Ok', callback_data: 'ok', ...more };
    const payload = { chat_id: ANN, text: 'x', reply_markup: { inline_keyboard: [[key]] } };
    const call = telegram.callApi('sendMessage', payload as never);
    if (isTaken) await call;
    else expect(await getRefusalData(call)).toMatchObject({ code: 400 });
  });

  it.each([
    ['101 commands', 101, 1],
    ['a list of more than 7,800 bytes', 63, 82],
  ])('refuses %s as too large', async (_name, count, length) => {
    const { telegram } = await startTelegramTestDouble();
    const commands = Array.from({ length: count }, (_, n) => ({
      command: `command_${String(n).padStart(3, '0')}`,
      description: 'd'.repeat(length),
    }));
    const call = telegram.callApi('setMyCommands', { commands });
    const description = 'Bad Request: BOT_COMMANDS_TOO_MUCH';
    expect(await getRefusalData(call)).toMatchObject({ code: 400, description });
    const shorter = commands.slice(0, 63).map((one) => ({ ...one, description: 'short' }));
    expect(await telegram.callApi('setMyCommands', { commands: shorter })).toBe(true);
  });

  it('measures the text after parsing, in code points, and keeps at most 100 entities', async () => {
    const { double, telegram } = await startTelegramTestDouble();
    double.say({ chat: ANN, text: 'hi' });
    await telegram.sendMessage(ANN, '😀'.repeat(4096));
    await telegram.sendMessage(ANN, '<b>x</b> '.repeat(120), { parse_mode: 'HTML' });
    expect(double.conversation(ANN).at(-1)?.entities).toHaveLength(100);
  });

  it('refuses an edit without a change, accepts one with a change, and deletes only once', async () => {
    const { double, telegram } = await startTelegramTestDouble();
    double.say({ chat: ANN, text: 'hi' });
    const { message_id } = await telegram.sendMessage(ANN, 'one');
    expect(
      await getRefusalData(telegram.editMessageText(ANN, message_id, undefined, 'one')),
    ).toMatchObject({
      description: expect.stringContaining('message is not modified'),
    });
    await telegram.editMessageText(ANN, message_id, undefined, 'two');
    expect(double.conversation(ANN).at(-1)).toMatchObject({ text: 'two', edits: 1 });
    await telegram.deleteMessage(ANN, message_id);
    expect(await getRefusalData(telegram.deleteMessage(ANN, message_id))).toMatchObject({
      description: 'Bad Request: message to delete not found',
    });
  });

  it('returns different errors for a wrong token, an unknown method, a blocked bot and an upgraded group', async () => {
    const { double, telegram } = await startTelegramTestDouble();
    double.say({ chat: ANN, text: 'hi' });
    double.say({ chat: -5, text: 'hi' });
    const stranger = new Telegraf('1:wrong', { telegram: { apiRoot: double.apiRoot } });
    expect(await getRefusalData(stranger.telegram.getMe())).toMatchObject({
      code: 401,
      description: 'Unauthorized',
    });
    expect(
      await getRefusalData(telegram.callApi('sendNonsense' as never, {} as never)),
    ).toMatchObject({
      code: 404,
    });
    double.setAccess(ANN, 'blocked');
    expect(await getRefusalData(telegram.sendMessage(ANN, 'x'))).toMatchObject({
      code: 403,
      description: 'Forbidden: bot was blocked by the user',
    });
    const newId = double.migrate(-5);
    expect(await getRefusalData(telegram.sendMessage(-5, 'x'))).toMatchObject({
      code: 400,
      parameters: { migrate_to_chat_id: newId },
    });
    await telegram.sendMessage(newId, 'there');
  });

  it('rejects messages that are sent too fast and accepts them after the reported wait', async () => {
    let now = 1_000_000;
    const { double, telegram } = await startTelegramTestDouble({
      limits: REAL_LIMITS,
      clock: () => now,
    });
    double.say({ chat: ANN, text: 'hi' });
    for (let sent = 0; sent < 5; sent += 1) await telegram.sendMessage(ANN, `${sent}`);
    expect(await getRefusalData(telegram.sendMessage(ANN, 'x'))).toMatchObject({
      code: 429,
      description: 'Too Many Requests: retry after 1',
      parameters: { retry_after: 1 },
    });
    now += 1000;
    await telegram.sendMessage(ANN, 'again');
  });
});
