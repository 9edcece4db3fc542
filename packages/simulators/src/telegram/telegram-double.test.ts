import { Telegraf } from 'telegraf';
import { afterEach, describe, expect, it } from 'vitest';
import {
  closeTestDoubles,
  getRefusalData,
  startTelegramTestDouble,
} from './testing/telegraf-client.ts';

const ANN = 501;
afterEach(closeTestDoubles);

describe('a conversation through the real telegraf', () => {
  it("delivers a person's messages and shows the bot's answers, in order", async () => {
    const { double, bot } = await startTelegramTestDouble();
    bot.on('message', (ctx) => ctx.reply('<b>hello</b> you', { parse_mode: 'HTML' }));
    void bot.launch();
    double.say({ chat: ANN, text: 'hi' });
    const answer = await double.waitFor(() =>
      double.conversation(ANN).find(({ from }) => from === 'bot'),
    );
    expect(answer).toMatchObject({
      text: 'hello you',
      entities: [{ type: 'bold', offset: 0, length: 5 }],
    });
    expect(double.conversation(ANN).map(({ from }) => from)).toEqual([ANN, 'bot']);
    bot.stop();
  });

  it("detects commands and mentions in people's messages and includes the message they reply to", async () => {
    const { double, telegram } = await startTelegramTestDouble();
    const sent = await telegram.callApi('getUpdates', {});
    expect(sent).toEqual([]);
    const first = double.say({ chat: -5, text: '/start@parley_test_bot now' });
    double.say({ chat: -5, text: 'well, @ann', replyTo: first.message_id });
    const updates = await telegram.callApi('getUpdates', {});
    expect(updates).toMatchObject([
      {
        message: {
          entities: [{ type: 'bot_command', offset: 0, length: 22 }],
          chat: { type: 'group' },
        },
      },
      {
        message: {
          entities: [{ type: 'mention', offset: 6, length: 4 }],
          reply_to_message: { text: '/start@parley_test_bot now' },
        },
      },
    ]);
  });

  it('keeps an answer in its topic and refuses unknown topics', async () => {
    const { double, telegram } = await startTelegramTestDouble();
    const chat = -1_000_000_000_005;
    const question = double.say({ chat, thread: 77, text: 'hi' });
    expect(question).toMatchObject({
      is_topic_message: true,
      reply_to_message: { forum_topic_created: {} },
    });
    await telegram.sendMessage(chat, 'yes', {
      message_thread_id: 77,
      reply_parameters: { message_id: question.message_id },
    });
    expect(double.conversation(chat).at(-1)).toMatchObject({
      threadId: 77,
      replyTo: question.message_id,
    });
    expect(
      await getRefusalData(telegram.sendMessage(chat, 'x', { message_thread_id: 78 })),
    ).toMatchObject({
      description: 'Bad Request: message thread not found',
    });
  });
});

describe('updates of the Telegram double', () => {
  it('delivers an update again until a poll with a higher offset confirms it', async () => {
    const { double, telegram } = await startTelegramTestDouble();
    double.say({ chat: ANN, text: 'one' });
    double.say({ chat: ANN, text: 'two' });
    const [first] = await telegram.callApi('getUpdates', {});
    expect(await telegram.callApi('getUpdates', {})).toHaveLength(2);
    const offset = (first?.update_id ?? 0) + 1;
    expect(await telegram.callApi('getUpdates', { offset })).toMatchObject([
      { message: { text: 'two' } },
    ]);
    expect(double.pendingUpdates()).toHaveLength(1);
  });

  it('answers a waiting poll as soon as an update is queued', async () => {
    const { double, telegram } = await startTelegramTestDouble();
    const poll = telegram.callApi('getUpdates', { timeout: 50 });
    await double.waitFor(() => double.transcript.firstArrival('getUpdates'));
    double.say({ chat: ANN, text: 'now' });
    expect(await poll).toMatchObject([{ message: { text: 'now' } }]);
  });

  it('ends the older of two polls with 409', async () => {
    const { double, telegram } = await startTelegramTestDouble();
    const older = getRefusalData(telegram.callApi('getUpdates', { timeout: 50 }));
    await double.waitFor(() => double.transcript.firstArrival('getUpdates'));
    const newer = telegram.callApi('getUpdates', { timeout: 50 });
    expect(await older).toMatchObject({
      code: 409,
      description: expect.stringContaining('terminated by other'),
    });
    double.say({ chat: ANN, text: 'x' });
    expect(await newer).toHaveLength(1);
  });

  it('refuses polling while a webhook is set', async () => {
    const { telegram } = await startTelegramTestDouble();
    await telegram.setWebhook('https://example.org/hook');
    expect(await getRefusalData(telegram.callApi('getUpdates', {}))).toMatchObject({
      code: 409,
      description: expect.stringContaining('use deleteWebhook'),
    });
    await telegram.deleteWebhook();
    expect(await telegram.callApi('getUpdates', {})).toEqual([]);
  });

  it('omits the kinds of updates that the bot did not request', async () => {
    const { double, telegram } = await startTelegramTestDouble();
    await telegram.callApi('getUpdates', { allowed_updates: ['callback_query'] });
    double.say({ chat: ANN, text: 'x' });
    expect(await telegram.callApi('getUpdates', {})).toEqual([]);
  });
});

describe('injected faults of the Telegram double', () => {
  it('answers with 502 and HTML, with truncated JSON, or with a reset, for the requested number of calls', async () => {
    const { double, telegram } = await startTelegramTestDouble();
    double.say({ chat: ANN, text: 'hi' });
    double.fault({ kind: 'status', status: 502, method: 'sendMessage' });
    expect(await getRefusalData(telegram.sendMessage(ANN, 'a'))).toMatchObject({ code: 502 });
    double.fault({ kind: 'garbage' });
    await expect(telegram.sendMessage(ANN, 'b')).rejects.toThrow('invalid json');
    double.fault({ kind: 'reset', times: 2 });
    await expect(telegram.sendMessage(ANN, 'c')).rejects.toMatchObject({ code: 'ECONNRESET' });
    await expect(telegram.sendMessage(ANN, 'd')).rejects.toMatchObject({ code: 'ECONNRESET' });
    await telegram.sendMessage(ANN, 'e');
    expect(double.conversation(ANN).map(({ text }) => text)).toEqual(['hi', 'e']);
  });

  it('loses the response after the message was stored', async () => {
    const { double, telegram } = await startTelegramTestDouble();
    double.say({ chat: ANN, text: 'hi' });
    double.fault({ kind: 'reset', after: true, chat: ANN });
    await expect(telegram.sendMessage(ANN, 'lost?')).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(double.conversation(ANN).at(-1)?.text).toBe('lost?');
    expect(double.calls('sendMessage')).toMatchObject([{ outcome: 'reset' }]);
  });
});

describe('the control interface of the Telegram double', () => {
  it('lets another process send messages, inspect the state and inject faults', async () => {
    const { double, telegram } = await startTelegramTestDouble({ pathPrefix: '/proxy' });
    expect(double.apiRoot).toMatch(/\/proxy$/);
    const bot = new Telegraf(double.token, { telegram: { apiRoot: `${double.apiRoot}/` } });
    await expect(telegram.getMe()).rejects.toThrow();
    const control = async (path: string, body?: object) => {
      const init = body && {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      };
      const response = await fetch(`${new URL(double.apiRoot).origin}/control/${path}`, init);
      return { status: response.status, body: await response.json() };
    };
    await control('say', { chat: ANN, text: 'over http' });
    const answers = control('answers?after=0&wait=5000');
    await bot.telegram.sendMessage(ANN, 'seen');
    expect((await answers).body).toMatchObject([{ text: 'seen', from: 'bot' }]);
    expect((await control(`conversation?chat=${ANN}`)).body).toHaveLength(2);
    const file = { kind: 'voice', bytes: 'AQID', type: 'audio/ogg' };
    const { body: voice } = await control('say', { chat: ANN, file });
    expect(voice).toMatchObject({ voice: { file_size: 3, mime_type: 'audio/ogg' } });
    await control('reword', { chat: ANN, message: 2, text: 'changed' });
    expect(double.conversation(ANN)[0]).toMatchObject({ text: 'changed', edits: 1 });
    expect((await control('press', { chat: ANN, message: 2, label: 'No' })).status).toBe(400);
    expect((await control('access', { chat: ANN, access: 'blocked' })).body).toEqual({
      done: true,
    });
    expect(await getRefusalData(bot.telegram.sendMessage(ANN, 'x'))).toMatchObject({ code: 403 });
    expect((await control('say', { text: 'where?' })).status).toBe(400);
    expect((await control('dance', {})).status).toBe(404);
  });

  it('accepts urlencoded, query and multipart parameters like JSON', async () => {
    const { double } = await startTelegramTestDouble();
    double.say({ chat: ANN, text: 'hi' });
    const url = `${double.apiRoot}/bot${double.token}/sendMessage`;
    const form = new FormData();
    form.set('chat_id', String(ANN));
    form.set('text', 'naïve текст 😀');
    const reply = JSON.stringify({ message_id: double.conversation(ANN)[0]?.messageId });
    form.set('reply_parameters', reply);
    await fetch(url, { method: 'POST', body: form });
    await fetch(url, {
      method: 'POST',
      body: new URLSearchParams({ chat_id: String(ANN), text: 'two' }),
    });
    await fetch(`${url}?chat_id=${ANN}&text=three`);
    const shown = double.conversation(ANN).slice(1);
    expect(shown.map(({ text }) => text)).toEqual(['naïve текст 😀', 'two', 'three']);
    expect(shown[0]?.replyTo).toBe(double.conversation(ANN)[0]?.messageId);
  });
});
