import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ParleyProcess } from './parley-process.ts';
import { ANN, GROUP, startTelegramScene, type TelegramScene } from './telegram-scene.ts';

let scene: TelegramScene;
let parley: ParleyProcess;
beforeEach(async () => {
  scene = await startTelegramScene();
  parley = await scene.startApart();
});
afterEach(() => scene.close());

describe('a Parley that is asked to end', () => {
  it('[D11] finishes a quick answer, sends it, says goodbye and frees the folder', async () => {
    const held = scene.hold('quick');
    scene.telegram.say({ chat: ANN, text: 'quick' });
    await held.asked;
    const ending = parley.end();
    setTimeout(held.release, 200);
    expect(await ending).toMatchObject({
      code: 0,
      out: expect.stringContaining('nothing is lost'),
    });
    expect(scene.answers(ANN)).toEqual(['You said: quick']);
    await scene.startAgain();
    scene.telegram.say({ chat: ANN, text: 'still there?' });
    expect(await scene.untilAnswers(ANN, 2)).toEqual(['You said: quick', 'You said: still there?']);
  });

  it('[D11] hands a slow answer back within 10 s; the next start gives it, once', async () => {
    const held = scene.hold('slow');
    scene.telegram.say({ chat: ANN, text: 'slow' });
    await held.asked;
    const ended = await parley.end();
    expect(ended.code).toBe(0);
    expect(ended.ms).toBeLessThan(10_000);
    expect(scene.answers(ANN)).toEqual([]);
    scene.telegram.say({ chat: ANN, text: 'written meanwhile' });
    const again = await scene.startApart();
    held.release();
    expect(await scene.untilAnswers(ANN, 2)).toEqual([
      'You said: slow',
      'You said: written meanwhile',
    ]);
    expect((await again.end()).code).toBe(0);
    expect(scene.answers(ANN)).toHaveLength(2);
  });

  it('[D01] [D04] answers once after a kill -9 in the middle of an answer', async () => {
    const held = scene.hold('killed');
    scene.telegram.say({ chat: ANN, text: 'killed' });
    await held.asked;
    await parley.end('SIGKILL');
    await scene.startAgain();
    held.release();
    expect(await scene.untilAnswers(ANN, 1)).toEqual(['You said: killed']);
    scene.telegram.say({ chat: ANN, text: 'next' });
    expect(await scene.untilAnswers(ANN, 2)).toEqual(['You said: killed', 'You said: next']);
  });

  it('[F12] [D01] [D04] shows an answer in a group as it grows, and finishes that message after a kill -9', async () => {
    const { telegram, model } = scene;
    const question = `Say this: ${'a long sentence comes here, '.repeat(12)}`.trim();
    const text = `@${telegram.me.username} ${question}`;
    model.fault({ kind: 'stall', afterPieces: 8 });
    telegram.say({ chat: GROUP, from: ANN, text });
    const [growing] = await scene.untilAnswers(GROUP, 1);
    expect(growing).toMatch(/Say this: a long/);
    expect(growing?.length).toBeLessThan(question.length);
    await parley.end('SIGKILL');
    await scene.startAgain();
    await telegram.waitFor(() => scene.answers(GROUP).some((each) => each.endsWith('comes here,')));
    expect(scene.answers(GROUP)).toHaveLength(1);
  });
});
