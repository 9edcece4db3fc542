import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ParleyProcess } from './parley-process.ts';
import {
  ANN,
  BO,
  GROUP,
  startSeparateTelegramScene,
  type TelegramScene,
} from './telegram-scene.ts';

let scene: TelegramScene;
let parley: ParleyProcess;
beforeEach(async () => {
  ({ scene, parley } = await startSeparateTelegramScene());
});
afterEach(() => scene.close());

describe('a gateway that receives a stop signal', () => {
  it('[D11] finishes a quick answer, hands over a slow answer within 10 s, sends a goodbye and unlocks the folder, and the next process sends the slow answer once', async () => {
    const [quick, slow] = [scene.hold('quick'), scene.hold('slow')];
    scene.telegram.say({ chat: ANN, text: 'quick' });
    scene.telegram.say({ chat: BO, text: 'slow' });
    await Promise.all([quick.asked, slow.asked]);
    const ending = parley.end();
    setTimeout(quick.release, 200);
    const ended = await ending;
    expect(ended).toMatchObject({ code: 0, out: expect.stringContaining('Nothing was lost') });
    expect(ended.ms).toBeLessThan(10_000);
    expect(scene.answers(ANN)).toEqual(['You said: quick']);
    expect(scene.answers(BO)).toEqual([]);
    scene.telegram.say({ chat: BO, text: 'written meanwhile' });
    const again = await scene.startAgain();
    slow.release();
    expect(await scene.untilAnswers(BO, 2)).toEqual([
      'You said: slow',
      'You said: written meanwhile',
    ]);
    scene.telegram.say({ chat: ANN, text: 'still there?' });
    expect(await scene.untilAnswers(ANN, 2)).toEqual(['You said: quick', 'You said: still there?']);
    await again.end();
    expect(scene.answers(BO)).toHaveLength(2);
  });

  it('[F12] [D01] [D04] answers once after a kill -9 in the middle of an answer, and completes the streamed message in a group', async () => {
    const { telegram, model } = scene;
    const question = `Say this: ${'a long sentence comes here, '.repeat(12)}`.trim();
    const text = `@${telegram.me.username} ${question}`;
    model.fault({ kind: 'stall', afterPieces: 8 });
    telegram.say({ chat: GROUP, from: ANN, text });
    const [growing] = await scene.untilAnswers(GROUP, 1);
    expect(growing).toMatch(/Say this: a long/);
    expect(growing?.length).toBeLessThan(question.length);
    const held = scene.hold('killed');
    telegram.say({ chat: ANN, text: 'killed' });
    await held.asked;
    await parley.end('SIGKILL');
    await scene.startAgain();
    held.release();
    expect(await scene.untilAnswers(ANN, 1)).toEqual(['You said: killed']);
    telegram.say({ chat: ANN, text: 'next' });
    expect(await scene.untilAnswers(ANN, 2)).toEqual(['You said: killed', 'You said: next']);
    await telegram.waitFor(() => scene.answers(GROUP).some((each) => each.endsWith('comes here,')));
    expect(scene.answers(GROUP)).toHaveLength(1);
  });
});
