import { isDueToday } from '@parley/core/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { getMessageText } from '../model/chat-request.ts';
import { ANN, GROUP, startTelegramScene, type TelegramScene } from './telegram-scene.ts';
import { createWebClient } from './web-client.ts';

/**
 * The number of tests that can kill a process; a normal run includes one of these kills each day.
 * The simulation covers kills at every step.
 */
const KILLS = 2;

let scene: TelegramScene;
afterEach(() => scene.close());

const open = async (busy: string | object): Promise<void> => {
  scene = await startTelegramScene({}, { lanes: { busy, collectPauseMs: 100 } });
};

/** Sends a message and waits until it is stored. */
async function write(text: string, chat = ANN): Promise<void> {
  const before = await taken();
  scene.telegram.say({ chat, from: ANN, text });
  await expect.poll(taken).toBe(before + 1);
}

async function taken(): Promise<number> {
  const { body } = await createWebClient(scene.parley).get('/metrics');
  const found = /parley_ingress_total\{channel="telegram",outcome="accepted"\} (\d+)/.exec(body);
  return Number(found?.[1] ?? 0);
}

const inGroup = (text: string) => `@parley_test_bot ${text}`;
const askedLast = () => JSON.stringify(scene.model.requests.at(-1)?.body.messages);

/** Returns the output of `/why` for the latest messages. */
async function why(): Promise<string> {
  const { length } = scene.answers(ANN);
  scene.telegram.say({ chat: ANN, text: '/why' });
  return (await scene.untilAnswers(ANN, length + 1)).at(-1) ?? '';
}

describe('a message written during a turn', () => {
  it('[D03] with "steer" joins the turn before its answer is sent, so one message answers both', async () => {
    await open('steer');
    const first = scene.hold('first');
    scene.telegram.say({ chat: ANN, text: 'first' });
    await first.asked;
    await write('second');
    first.release();
    const both = 'You said: first\n\nYou said: second';
    expect(await scene.untilAnswers(ANN, 1)).toEqual([both]);
    await write('third');
    expect(await scene.untilAnswers(ANN, 2)).toEqual([both, 'You said: third']);
    expect(askedLast()).toContain('first\\n\\nsecond');
  });

  it('[D03] with "steer" is answered even if a provider accepts no message after tool results', async () => {
    await open('steer');
    scene.model.strictAs = 'mistral';
    const asked = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    scene.model.reply(async ({ messages }) => {
      if (messages.some(({ role }) => role === 'tool')) return 'Noon, and rain.';
      asked.resolve();
      await released.promise;
      return { toolCalls: [{ name: 'current_time', arguments: {} }] };
    });
    scene.telegram.say({ chat: ANN, text: 'what time is it?' });
    await asked.promise;
    await write('and the weather?');
    released.resolve();
    expect(await scene.untilAnswers(ANN, 1)).toEqual(['Noon, and rain.']);
    const { messages = [] } = scene.model.requests.at(-1)?.body ?? {};
    expect(messages.slice(-3).map(({ role }) => role)).toEqual(['tool', 'assistant', 'user']);
    expect(getMessageText(messages.at(-1))).toContain('and the weather?');
    expect(await why()).toContain('answered');
  });

  if (isDueToday(0, KILLS))
    it('[D03] [D05] with "steer" is answered once if Parley is killed after the message joined the turn', async () => {
      await open('steer');
      const parley = await scene.startApart();
      const [first, second] = [scene.hold('first'), scene.hold('second')];
      scene.telegram.say({ chat: ANN, text: 'first' });
      await first.asked;
      await write('second');
      first.release();
      await second.asked;
      await parley.end('SIGKILL');
      const asked = scene.model.total;
      await scene.startAgain();
      second.release();
      expect(await scene.untilAnswers(ANN, 1)).toEqual(['You said: first\n\nYou said: second']);
      expect(scene.model.total).toBe(asked + 1);
      await write('third');
      expect(await scene.untilAnswers(ANN, 2)).toHaveLength(2);
    });

  it('[D03] with "interrupt" ends the turn, the next turn answers both messages, and /why reports it', async () => {
    await open('interrupt');
    const story = scene.hold('a story');
    scene.telegram.say({ chat: ANN, text: 'a story' });
    await story.asked;
    await write('a poem');
    expect(await scene.untilAnswers(ANN, 1)).toEqual(['You said: a poem']);
    story.release();
    expect(askedLast()).toContain('a story\\n\\na poem');
    expect(await why()).toContain('its turn was interrupted by a later message; waited');
    expect(scene.answers(ANN)).toHaveLength(2);
  });

  if (isDueToday(1, KILLS))
    it('[D03] with "interrupt" is answered once, together with the interrupted message, after a kill -9', async () => {
      await open('interrupt');
      const parley = await scene.startApart();
      const [story, poem] = [scene.hold('a story'), scene.hold('a poem')];
      scene.telegram.say({ chat: ANN, text: 'a story' });
      await story.asked;
      await write('a poem');
      await poem.asked;
      await parley.end('SIGKILL');
      await scene.startAgain();
      poem.release();
      story.release();
      expect(await scene.untilAnswers(ANN, 1)).toEqual(['You said: a poem']);
      expect(askedLast()).toContain('a story\\n\\na poem');
      await write('thanks');
      expect(await scene.untilAnswers(ANN, 2)).toEqual(['You said: a poem', 'You said: thanks']);
    });

  it('[D03] is handled according to the kind of chat', async () => {
    await open({ direct: 'steer' });
    const one = scene.hold(inGroup('one'));
    scene.telegram.say({ chat: GROUP, from: ANN, text: inGroup('one') });
    await one.asked;
    await write(inGroup('two'), GROUP);
    await write(inGroup('three'), GROUP);
    one.release();
    const answers = await scene.untilAnswers(GROUP, 2);
    expect(answers).toHaveLength(2);
    expect(answers[0]).toContain('one');
    expect(answers[1]).toContain('three');
    expect(getMessageText(scene.model.requests.at(-1)?.body.messages.at(-1))).toMatch(
      /two[\s\S]*three/,
    );
  });
});
