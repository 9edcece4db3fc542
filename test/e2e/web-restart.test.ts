import { setTimeout as sleep } from 'node:timers/promises';
import { isDueToday, isFullRun } from '@parley/core/testing';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { ParleyProcess } from './parley-process.ts';
import {
  answers,
  field,
  mine,
  sendMessage,
  startWebScene,
  untilAnswer,
  type WebScene,
} from './web-scene.ts';

const chromiumUrl = inject('chromiumUrl');
/**
 * When the gateway is killed: right after a message was sent, or in the middle of an answer. A
 * normal run tests one of these moments each day.
 */
const KILLS = 2;
/** The delay between sending a message and killing the gateway, in ms. */
const deaths = isFullRun() ? [0, 2, 5, 15, 40] : [2].filter(() => isDueToday(0, KILLS));

describe.runIf(chromiumUrl)('the page during a gateway outage', () => {
  let scene: WebScene;
  let parley: ParleyProcess;
  const start = async () => {
    parley = await scene.startApart();
  };
  beforeAll(async () => {
    scene = await startWebScene(chromiumUrl ?? '');
    await start();
  });
  afterAll(() => scene.close());

  it('[D01] [F03] reports the outage, keeps messages even in a closed tab, and sends them once when the gateway is back', async () => {
    const [page, closed] = [await scene.open(), await scene.open()];
    await parley.end('SIGKILL');
    await page.getByText('Reconnecting…', { exact: true }).first().waitFor();
    await sendMessage(page, 'Written while you were away');
    await page.getByText('Not sent yet, trying again…').waitFor();
    await sendMessage(closed, 'Written before the tab was closed');
    await closed.getByText('Not sent yet, trying again…').waitFor();
    const { address } = scene.parley;
    const context = closed.context();
    await closed.close();
    await start();
    await untilAnswer(page, 'You said: Written while you were away');
    await page.getByText('Connected', { exact: true }).waitFor();
    const away = (texts: readonly string[]) => texts.filter((text) => text.includes('away'));
    expect(away(await mine(page))).toEqual(['Written while you were away']);
    expect(away(await answers(page))).toEqual(['You said: Written while you were away']);
    await page.context().close();
    const again = await context.newPage();
    await again.goto(address);
    await untilAnswer(again, 'You said: Written before the tab was closed');
    expect((await mine(again)).filter((text) => text.includes('tab was closed'))).toHaveLength(1);
    const kept = await again.evaluate('Object.keys(localStorage)');
    expect(kept).toEqual(['parley.session']);
    await context.close();
  });

  it.each(deaths)(
    '[D01] [D04] gets exactly one answer when the gateway is killed %i ms after a message was sent',
    async (ms) => {
      const page = await scene.open();
      const text = `Sent ${ms} ms before the end`;
      await field(page).fill(text);
      await Promise.all([field(page).press('Enter'), sleep(ms).then(() => parley.end('SIGKILL'))]);
      await start();
      await untilAnswer(page, `You said: ${text}`);
      await page.getByText('Connected', { exact: true }).waitFor();
      // A duplicate would arrive with the next answer at the latest.
      await sendMessage(page, `After ${ms}`);
      await untilAnswer(page, `You said: After ${ms}`);
      for (const look of ['live', 'reloaded']) {
        const found = (await answers(page)).filter((answer) => answer.includes(text));
        expect([look, found]).toEqual([look, [`You said: ${text}`]]);
        expect((await mine(page)).filter((own) => own === text)).toHaveLength(1);
        await page.reload();
        await untilAnswer(page, `You said: After ${ms}`);
      }
      await page.context().close();
    },
  );

  if (isDueToday(1, KILLS))
    it('[D01] gets one answer when the gateway is killed while answering', async () => {
      const page = await scene.open();
      scene.model.pauseBehind('Step 8.');
      scene.model.reply(() => ({
        text: Array.from({ length: 30 }, (_, at) => `Step ${at + 1}. `),
      }));
      await sendMessage(page, 'Walk');
      await page.locator('.is-live').getByText('Step 5.').waitFor();
      await parley.end('SIGKILL');
      await page.getByText('Reconnecting…', { exact: true }).first().waitFor();
      await expect.poll(() => page.getByRole('button', { name: 'Stop' }).count()).toBe(0);
      await start();
      await untilAnswer(page, 'Step 30.');
      await page.locator('.is-live').waitFor({ state: 'detached' });
      const found = (await answers(page)).filter((answer) => answer.includes('Step 30.'));
      expect(found).toHaveLength(1);
      await page.context().close();
    });

  it('[D11] does not lose messages in an orderly restart', async () => {
    const page = await scene.open();
    scene.model.reply(() => 'Noted.');
    await sendMessage(page, 'In the first life');
    await untilAnswer(page, 'Noted.');
    const ended = await parley.end('SIGTERM');
    expect(ended.code).toBe(0);
    await sendMessage(page, 'Between two lives');
    await scene.startAgain();
    await page.getByText('Connected', { exact: true }).waitFor();
    await untilAnswer(page, 'Noted.');
    await expect.poll(() => page.locator('.mine.is-sending').count()).toBe(0);
    expect((await mine(page)).filter((own) => own === 'Between two lives')).toHaveLength(1);
    await page.context().close();
  });
});
