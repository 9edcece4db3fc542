import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Member } from './member.ts';
import { ANN, type DeploymentScene, openScene } from './scene.ts';

const [redisUrl, postgresUrl] = [inject('redisUrl'), inject('postgresUrl')];
const conversationId = `telegram:default:${ANN}`;

describe.runIf(redisUrl && postgresUrl)('a conversation that a person has taken over', () => {
  let scene: DeploymentScene;
  beforeEach(async () => {
    scene = await openScene({ redisUrl: redisUrl ?? '', postgresUrl: postgresUrl ?? '' });
  });
  afterEach(() => scene.close());

  async function perform(
    member: Member,
    operation: string,
    input: object = {},
  ): Promise<{ readonly isRepeated?: boolean }> {
    const answer = await fetch(`${member.address}/api/conversations/${operation}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${scene.deployment.token}` },
      body: JSON.stringify({ conversationId, ...input }),
    });
    if (!answer.ok) throw new Error(await answer.text());
    return JSON.parse(await answer.text());
  }

  it('[U12] [D09] is taken over at every gateway and worker, and a reply is sent once by the gateway that holds the account', async () => {
    const { deployment, telegram, held, model } = scene;
    const here = await deployment.start('gateway');
    const there = await deployment.start('gateway');
    await deployment.start('worker');
    await scene.ask('one');
    const slow = held.hold('slow');
    telegram.say({ chat: ANN, text: 'slow' });
    await slow.asked;
    await perform(there, 'take-over');
    slow.release();
    await deployment.start('worker');

    const reply = { text: 'I am here', as: 'self', requestId: 'r1' };
    const both = await Promise.all([here, there].map((one) => perform(one, 'reply', reply)));
    expect(both.map(({ isRepeated }) => isRepeated).toSorted()).toEqual([false, true]);
    await telegram.waitFor(() => scene.answers().length === 2);
    telegram.say({ chat: ANN, text: 'thanks' });
    const waiting = async () => {
      const { body } = await deployment.get(here, '/api/conversations/list');
      return JSON.parse(body).conversations[0].waiting;
    };
    await expect.poll(waiting).toBe(1);
    expect(await perform(here, 'hand-back')).toEqual({ handedBack: true });
    await telegram.waitFor(() => scene.answers().length === 3);
    expect(scene.answers()).toEqual(['You said: one', 'The owner: I am here', 'You said: thanks']);
    const known = JSON.stringify(model.requests.at(-1)?.body.messages);
    expect(known).toMatch(/slow.*an owner, wrote this here.*I am here.*thanks/);
  });
});
