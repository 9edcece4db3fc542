import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import type { Member } from './member.ts';
import { ANN, type DeploymentScene, openScene } from './scene.ts';

const Letters = z.object({ letters: z.array(z.object({ id: z.int() })) });
const Processes = z.object({ processes: z.array(z.object({ address: z.string() })) });
const Replayed = z.object({ results: z.tuple([z.object({ result: z.string() })]) });

const [redisUrl, postgresUrl] = [inject('redisUrl'), inject('postgresUrl')];

describe.runIf(redisUrl && postgresUrl)('dead letters in a deployment of several processes', () => {
  let scene: DeploymentScene;
  beforeEach(async () => {
    scene = await openScene({ redisUrl: redisUrl ?? '', postgresUrl: postgresUrl ?? '' });
  });
  afterEach(() => scene.close());

  async function asked<Found>(
    member: Member,
    path: string,
    answer: z.ZodType<Found>,
  ): Promise<Found> {
    return answer.parse(JSON.parse((await scene.deployment.get(member, path)).body));
  }
  async function replay({ address }: Member, id: number): Promise<string> {
    const response = await fetch(`${address}/api/dead/settle`, {
      method: 'POST',
      headers: { authorization: `Bearer ${scene.deployment.token}` },
      body: JSON.stringify({ action: 'replay', letters: [id] }),
    });
    return Replayed.parse(await response.json()).results[0].result;
  }

  it('[D06] [D09] are replayed once by any gateway, and sent by the gateway that holds the account', async () => {
    const { deployment, telegram, answers } = scene;
    const holder = await deployment.start('gateway');
    const standby = await deployment.start('gateway');
    const worker = await deployment.start('worker');
    const description = 'Forbidden: bot was blocked by the user';
    telegram.fault({ kind: 'refuse', code: 403, description, method: 'sendMessage', chat: ANN });
    telegram.say({ chat: ANN, text: 'hello' });
    const letters = async () => (await asked(standby, '/api/dead/list', Letters)).letters;
    await expect.poll(async () => (await letters()).length, { timeout: 20_000 }).toBe(1);
    const id = (await letters())[0]?.id ?? 0;
    const results = await Promise.all(
      [standby, holder, standby, holder].map((member) => replay(member, id)),
    );
    expect(results.toSorted()).toEqual(['replayed', 'settled', 'settled', 'settled']);
    await telegram.waitFor(() => answers().includes('You said: hello'), 20_000);
    expect((await deployment.command('dead')).out).toContain('No failed messages.');
    await scene.ask('again');
    expect(answers()).toEqual(['You said: hello', 'You said: again']);
    const { processes } = await asked(standby, '/api/queue/report', Processes);
    expect(processes.map(({ address }) => address).toSorted()).toEqual(
      [holder, standby, worker].map(({ address }) => address).toSorted(),
    );
  });
});
