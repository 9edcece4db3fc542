import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ANN, BO, GROUP, startTelegramScene, type TelegramScene } from './telegram-scene.ts';
import { createWebClient } from './web-client.ts';

let scene: TelegramScene;
beforeEach(async () => {
  scene = await startTelegramScene();
});
afterEach(() => scene.close());

async function perform(operation: string, input: object) {
  const { address, token } = scene.parley;
  const answer = await fetch(`${address}/api/${operation}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify(input),
  });
  return { status: answer.status, body: JSON.parse(await answer.text()) };
}

const lane = (chat: number) => ({ conversationId: `telegram:default:${chat}` });
const takeOver = (chat = BO) => perform('conversations/take-over', lane(chat));
const handBack = (chat = BO) => perform('conversations/hand-back', lane(chat));
const reply = (text: string, more: object = {}) =>
  perform('conversations/reply', { ...lane(BO), text, as: 'self', requestId: text, ...more });
const say = (text: string, chat = BO) => scene.telegram.say({ chat, text });
const waiting = async () => {
  const { body } = await createWebClient(scene.parley).get('/api/conversations/list');
  return JSON.parse(body).conversations[0].waiting;
};
const known = () => JSON.stringify(scene.model.requests.at(-1)?.body.messages);

describe('a chat taken over by a person', () => {
  it('[U12] stops getting answers immediately, even across a restart, and the agent later has the messages in its history', async () => {
    const slow = scene.hold('slow');
    say('slow');
    await slow.asked;
    expect((await takeOver()).body).toMatchObject({ by: 'The owner' });
    slow.release();
    say('is anyone there?');
    await expect.poll(waiting).toBe(1);
    expect(await reply('Ask **me**')).toMatchObject({ body: { answered: 2 } });
    await scene.untilAnswers(BO, 1);
    await scene.parley.end();
    say('what is the price?');
    await scene.startAgain();
    await expect.poll(waiting).toBe(1);
    expect(await reply('12 euros', { as: 'agent' })).toMatchObject({ body: { answered: 1 } });
    say('thanks');
    await expect.poll(waiting).toBe(1);
    expect(scene.model.requests).toHaveLength(1);
    await handBack();
    expect(await scene.untilAnswers(BO, 3)).toEqual([
      ...['The owner: Ask me', '12 euros', 'You said: thanks'],
    ]);
    const asked = known();
    expect(asked).toMatch(/slow.*is anyone there.*under their own name.*Ask \*\*me\*\*/);
    expect(asked).toMatch(/what is the price.*in your name.*12 euros.*thanks/);
    expect(JSON.parse(asked).filter(({ role }: { role: string }) => role === 'assistant')).toEqual(
      [],
    );
  });

  it('[U12] still obeys commands, and other chats get answers', async () => {
    say('hello');
    await scene.untilAnswers(BO, 1);
    await takeOver();
    say('/help');
    await scene.untilAnswers(BO, 2);
    say('hello', ANN);
    expect(await scene.untilAnswers(ANN, 1)).toEqual(['You said: hello']);
    say('a question');
    await expect
      .poll(
        async () =>
          (await perform('conversations/show', { id: lane(BO).conversationId })).body.waiting,
      )
      .toBe(1);
    const why = await perform('why/message', { message: 'last' });
    expect(JSON.stringify(why.body)).toContain('a person took the conversation over');
    say('/stop');
    await scene.untilAnswers(BO, 3);
    await handBack();
    say('and now?');
    expect((await scene.untilAnswers(BO, 4)).at(-1)).toBe('You said: and now?');
  });

  it('[U12] records who said what in a group, and a person can reply next to the agent without a takeover', async () => {
    const group = (text: string) =>
      scene.telegram.say({
        chat: GROUP,
        from: ANN,
        text: `@${scene.telegram.me.username} ${text}`,
      });
    group('first');
    await scene.untilAnswers(GROUP, 1);
    const written = { ...lane(GROUP), text: 'From me', as: 'self', requestId: 'g' };
    expect(await perform('conversations/reply', written)).toMatchObject({ body: { answered: 0 } });
    await scene.untilAnswers(GROUP, 2);
    group('second');
    await scene.untilAnswers(GROUP, 3);
    expect(known()).toMatch(/first.*an owner, wrote this here.*From me.*second/);
  });
});
