import { isFullRun } from '@parley/core/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ANN,
  BO,
  GROUP,
  STRANGER,
  startTelegramScene,
  type TelegramScene,
} from './telegram-scene.ts';
import { createWebClient } from './web-client.ts';

let scene: TelegramScene;
beforeAll(async () => {
  scene = await startTelegramScene();
});
afterAll(() => scene.close());

/** The number of bot messages that a chat shows. */
const count = (chat: number) => scene.answers(chat).length;

describe('a conversation in Telegram', () => {
  it('[F03] [G01] is answered by the model, which remembers what was said', async () => {
    scene.telegram.say({ chat: ANN, text: 'I like parrots' });
    expect(await scene.untilAnswers(ANN, 1)).toEqual(['You said: I like parrots']);
    scene.telegram.say({ chat: ANN, text: 'What do I like?' });
    await scene.untilAnswers(ANN, 2);
    const seen = JSON.stringify(scene.model.requests.at(-1)?.body.messages);
    expect(seen).toContain('I like parrots');
    expect(seen).toContain('`read`');
  });

  it('[D02] continues while another conversation waits for an answer', async () => {
    const slow = scene.hold('slow question');
    const before = count(ANN);
    scene.telegram.say({ chat: ANN, text: 'slow question' });
    await slow.asked;
    scene.telegram.say({ chat: BO, text: 'quick question' });
    expect(await scene.untilAnswers(BO, 1)).toEqual(['You said: quick question']);
    expect(count(ANN)).toBe(before);
    slow.release();
    expect((await scene.untilAnswers(ANN, before + 1)).at(-1)).toBe('You said: slow question');
  });

  it('[D03] collects messages written during an answer into the next turn', async () => {
    const first = scene.hold('one');
    const before = count(BO);
    const asked = scene.model.total;
    scene.telegram.say({ chat: BO, text: 'one' });
    await first.asked;
    scene.telegram.say({ chat: BO, text: 'two' });
    scene.telegram.say({ chat: BO, text: 'three' });
    await scene.telegram.waitFor(() => scene.telegram.pendingUpdates().length === 0);
    first.release();
    const answers = await scene.untilAnswers(BO, before + 2);
    expect(answers.slice(before)).toEqual(['You said: one', 'You said: three']);
    expect(JSON.stringify(scene.model.requests.at(-1)?.body)).toContain('two');
    expect(scene.model.total - asked).toBe(2);
  });

  it('[F09] /stop bypasses the queue, and the answer is never sent', async () => {
    const endless = scene.hold('an endless story');
    const before = count(ANN);
    scene.telegram.say({ chat: ANN, text: 'an endless story' });
    await endless.asked;
    scene.telegram.say({ chat: ANN, text: '/stop' });
    expect((await scene.untilAnswers(ANN, before + 1)).at(-1)).toBe('Stopped.');
    endless.release();
    scene.telegram.say({ chat: ANN, text: 'and now?' });
    const answers = await scene.untilAnswers(ANN, before + 2);
    expect(answers.slice(before)).toEqual(['Stopped.', 'You said: and now?']);
  });

  it('[F18] [F09] ends a streamed answer when the stop button is pressed, and keeps the text so far once', async () => {
    const before = count(ANN);
    const shown = scene.telegram.drafts().length;
    scene.model.fault({ kind: 'stall', afterPieces: 3 });
    scene.telegram.say({ chat: ANN, text: 'a long story that never ends' });
    await scene.telegram.waitFor(() =>
      scene.telegram
        .drafts()
        .slice(shown)
        .some(({ chatId, text }) => chatId === ANN && text.includes('You')),
    );
    scene.telegram.stopDraft(ANN);
    scene.telegram.stopDraft(ANN);
    await scene.untilAnswers(ANN, before + 2);
    scene.telegram.say({ chat: ANN, text: 'and now?' });
    const answers = (await scene.untilAnswers(ANN, before + 3)).slice(before);
    expect(answers.filter((text) => text === 'Stopped.')).toHaveLength(1);
    expect(answers.filter((text) => /^You said.*\n\nStopped\.$/s.test(text))).toHaveLength(1);
    expect(answers.at(-1)).toBe('You said: and now?');
  });

  it('[F06] tells the model in the next turn how the person reacted', async () => {
    const before = count(BO);
    scene.telegram.say({ chat: BO, text: 'Shall we?' });
    await scene.untilAnswers(BO, before + 1);
    const message = scene.telegram.conversation(BO).at(-1)?.messageId ?? 0;
    // A later message in the chat proves that the receipt is stored.
    scene.telegram.say({ chat: BO, text: 'One moment.' });
    await scene.untilAnswers(BO, before + 2);
    scene.telegram.react({ chat: BO, message, emojis: ['👍'] });
    await scene.telegram.waitFor(() => scene.telegram.pendingUpdates().length === 0);
    expect(count(BO)).toBe(before + 2);
    scene.telegram.say({ chat: BO, text: 'Well?' });
    await scene.untilAnswers(BO, before + 3);
    const seen = JSON.stringify(scene.model.requests.at(-1)?.body.messages);
    expect(seen).toContain('reacted with 👍 to your message');
  });

  it('[F12] shows typing while the model thinks', async () => {
    const held = scene.hold('think about it');
    const before = count(BO);
    scene.telegram.say({ chat: BO, text: 'think about it' });
    await held.asked;
    await scene.telegram.waitFor(() =>
      scene.telegram.calls('sendChatAction').some(({ params }) => Number(params.chat_id) === BO),
    );
    held.release();
    await scene.untilAnswers(BO, before + 1);
  });

  it('[F09] names the answering model in plain language on /status', async () => {
    const before = count(ANN);
    scene.telegram.say({ chat: ANN, text: '/status' });
    const answer = (await scene.untilAnswers(ANN, before + 1)).at(-1);
    expect(answer).toContain('Model: openai-compatible/double at 127.0.0.1');
  });
});

describe('a group in Telegram', () => {
  it('[F06] is answered as a reply, and only when the bot is addressed', async () => {
    const asked = scene.model.total;
    scene.telegram.say({ chat: GROUP, from: 77, text: 'just talking' });
    const question = scene.telegram.say({ chat: GROUP, from: 77, text: 'hey @parley_test_bot' });
    await scene.untilAnswers(GROUP, 1);
    const context = JSON.stringify(scene.model.requests.at(-1)?.body.messages.at(-1));
    expect(context).toContain('just talking');
    const answer = scene.telegram.conversation(GROUP).find(({ from }) => from === 'bot');
    expect(answer).toMatchObject({
      text: 'You said: From "User 77": hey @\u200bparley_test_bot',
      replyTo: question.message_id,
    });
    expect(scene.model.total - asked).toBe(1);
  });

  it('[W02] does not see server names or settings when the model fails', async () => {
    scene.model.fault({ kind: 'status', status: 401 });
    scene.telegram.say({ chat: GROUP, from: 77, text: 'again @parley_test_bot' });
    const [, notice] = await scene.untilAnswers(GROUP, 2);
    expect(notice).toBe('⚙️ I could not get an answer from my model. Please try again later.');
  });

  it('[F18] shows answers to ephemeral commands only to the sender, each time', async () => {
    const { telegram } = scene;
    const ephemeral = () => telegram.conversation(GROUP).filter(({ ephemeralId }) => ephemeralId);
    telegram.say({ chat: GROUP, from: BO, text: '/whoami', ephemeral: true });
    await telegram.waitFor(() => ephemeral().length === 2);
    telegram.say({ chat: GROUP, from: ANN, text: '/whoami', ephemeral: true });
    await telegram.waitFor(() => ephemeral().length === 4);
    expect(ephemeral()).toMatchObject([
      { from: BO, onlyFor: BO },
      { from: 'bot', onlyFor: BO, text: expect.stringContaining(`telegram:${BO}`) },
      { from: ANN, onlyFor: ANN },
      { from: 'bot', onlyFor: ANN, text: expect.stringContaining(`telegram:${ANN}`) },
    ]);
  });
});

describe('a stranger in Telegram', () => {
  it('[F05] gets one code, never reaches the model, and gains access when the owner enters the code', async () => {
    const asked = scene.model.total;
    for (const text of ['let me in', 'please', 'PLEASE'])
      scene.telegram.say({ chat: STRANGER, text });
    const [notice = ''] = await scene.untilAnswers(STRANGER, 1);
    await scene.telegram.waitFor(() => scene.telegram.pendingUpdates().length === 0);
    // Ann's answer arrives after anything that the stranger's messages could have caused.
    const before = count(ANN);
    scene.telegram.say({ chat: ANN, text: 'anyone there?' });
    await scene.untilAnswers(ANN, before + 1);
    expect(scene.answers(STRANGER)).toHaveLength(1);
    expect(scene.model.total - asked).toBe(1);
    expect(scene.parley.err()).not.toContain('let me in');

    const [command = ''] = /\/pair [A-Z2-9]{8}/.exec(notice) ?? [];
    scene.telegram.say({ chat: ANN, text: command });
    expect((await scene.untilAnswers(ANN, before + 2)).at(-1)).toContain('has access now');
    expect((await scene.untilAnswers(STRANGER, 2)).at(-1)).toContain('You have access now');
    scene.telegram.say({ chat: STRANGER, text: 'thank you' });
    expect((await scene.untilAnswers(STRANGER, 3)).at(-1)).toBe('You said: thank you');
  });
});

describe('a linked account', () => {
  it("[F13] shares the owner's conversation across platforms after the owner confirms the link", async () => {
    const web = createWebClient(scene.parley);
    const inWeb = async () => (await web.history()).at(-1) ?? '';
    const before = count(BO);
    await web.post('/link');
    await expect.poll(inWeb).toContain('/link ');
    const [command = ''] = /\/link [A-Z2-9]{8}/.exec(await inWeb()) ?? [];
    scene.telegram.say({ chat: BO, text: command });
    await scene.untilAnswers(BO, before + 1);
    await expect.poll(inWeb).toContain(`telegram:${BO}`);
    await web.post(command);
    expect((await scene.untilAnswers(BO, before + 2)).at(-1)).toContain('web:owner');

    await web.post('I like parrots');
    await expect.poll(inWeb).toContain('You said: I like parrots');
    scene.telegram.say({ chat: BO, text: 'What do I like?' });
    await scene.untilAnswers(BO, before + 3);
    expect(JSON.stringify(scene.model.requests.at(-1)?.body.messages)).toContain('I like parrots');
    scene.telegram.say({ chat: BO, text: '/status' });
    expect((await scene.untilAnswers(BO, before + 4)).at(-1)).toContain('Model: ');
  });
});

describe('sending to Telegram', () => {
  it('[D05] waits as long as Telegram asks, only in the affected chat, and sends once', async () => {
    const [ann, bo] = [count(ANN), count(BO)];
    const parameters = { retry_after: 1 };
    const description = 'Too Many Requests: retry after 1';
    scene.telegram.fault({
      kind: 'refuse',
      code: 429,
      description,
      parameters,
      method: 'sendMessage',
      chat: ANN,
    });
    const started = Date.now();
    scene.telegram.say({ chat: ANN, text: 'limited' });
    scene.telegram.say({ chat: BO, text: 'not limited' });
    await scene.untilAnswers(BO, bo + 1);
    expect(count(ANN)).toBe(ann);
    await scene.untilAnswers(ANN, ann + 1);
    expect(Date.now() - started).toBeGreaterThanOrEqual(1_000);
    expect(scene.answers(ANN).slice(ann)).toEqual(['You said: limited']);
  });

  it('[M03] splits a long answer into ordered messages of the length that Telegram allows', async () => {
    const before = count(ANN);
    const words = Array.from({ length: 2_000 }, (_, index) => `word${index}`);
    scene.model.queue(words.join(' '));
    scene.telegram.say({ chat: ANN, text: 'tell me a long story' });
    await scene.telegram.waitFor(() => scene.answers(ANN).at(-1)?.endsWith('word1999'));
    const parts = scene.answers(ANN).slice(before);
    expect(parts.length).toBeGreaterThan(3);
    expect(parts.every((part) => part.length <= 4_096)).toBe(true);
    expect(parts.join(' ').split(/\s+/)).toEqual(words);
  });

  it('[D04] reports uncertainty and repeats nothing when Telegram accepts a message without a response', async () => {
    const before = count(ANN);
    scene.telegram.fault({ kind: 'reset', method: 'sendMessage', chat: ANN, after: true });
    scene.telegram.say({ chat: ANN, text: 'uncertain' });
    const answers = await scene.untilAnswers(ANN, before + 2);
    expect(answers.slice(before)).toEqual([
      'You said: uncertain',
      expect.stringContaining('cannot tell whether it arrived'),
    ]);
  });

  it('[D04] repeats an uncertain message once when the button below the notice is pressed', async () => {
    const before = count(ANN);
    const notice = scene.telegram.conversation(ANN).at(-1);
    const press = { chat: ANN, message: notice?.messageId ?? 0, label: 'Send it again' };
    scene.telegram.press(press);
    scene.telegram.press(press);
    const answers = await scene.untilAnswers(ANN, before + 3);
    expect(answers.slice(before).toSorted()).toEqual([
      'I have sent it again.',
      expect.stringContaining('already settled'),
      'You said: uncertain',
    ]);
    const buttons = () => scene.telegram.conversation(ANN).flatMap((shown) => shown.buttons ?? []);
    await scene.telegram.waitFor(() => buttons().length === 0);
  });
});

describe('a group that becomes a supergroup', () => {
  it('[D05] keeps access, history and jobs, and the owner is notified once', async () => {
    // A full run kills Parley; otherwise it is shut down gracefully.
    const parley = isFullRun() ? await scene.startApart() : scene.parley;
    const owners = count(ANN);
    scene.telegram.say({ chat: GROUP, from: 77, text: 'the code word is heron @parley_test_bot' });
    const before = (await scene.untilAnswers(GROUP, count(GROUP) + 1)).length;
    const now = scene.telegram.migrate(GROUP);
    scene.telegram.say({ chat: now, from: 77, text: 'which word? @parley_test_bot' });
    await scene.telegram.waitFor(() => count(now) === 1);
    expect(JSON.stringify(scene.model.requests.at(-1)?.body.messages)).toContain('heron');
    expect(count(GROUP)).toBe(before);
    const [note] = (await scene.untilAnswers(ANN, owners + 1)).slice(owners);
    expect(note).toMatch(/became a supergroup .*keeps its history, memory, jobs and permissions/);
    await parley.discard();
    await scene.startAgain();
    scene.telegram.say({ chat: now, from: 77, text: 'and after a start? @parley_test_bot' });
    await scene.telegram.waitFor(() => count(now) === 2);
    expect(JSON.stringify(scene.model.requests.at(-1)?.body.messages)).toContain('heron');
    expect(count(ANN)).toBe(owners + 1);
  });
});
