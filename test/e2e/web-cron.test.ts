import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { textOf } from '../model/chat-request.ts';
import { openView, say, startWebScene, untilAnswer, type WebScene } from './web-scene.ts';

const chromiumUrl = inject('chromiumUrl');

/** What a job would like the page to take for its own. */
const TASK = 'Water the plants <img src=x onerror="document.title=1">';

describe.runIf(chromiumUrl)('jobs as the page shows them', () => {
  let scene: WebScene;
  let page: Page;
  beforeAll(async () => {
    scene = await startWebScene(chromiumUrl ?? '');
    scene.model.reply(({ messages }) => {
      const last = messages.at(-1);
      if (textOf(last).includes('The time of the job')) return 'Water them now.';
      if (last?.role === 'tool') return 'It is planned.';
      const input = { action: 'add', title: 'plants', task: TASK, every: 'daily at 9:00' };
      return { toolCalls: [{ name: 'cron', arguments: input }] };
    });
    page = await scene.open({ viewport: { width: 400, height: 800 } });
    await say(page, 'remind me of the plants');
    await untilAnswer(page, 'It is planned.');
    await openView(page, 'Heartbeat');
  });
  afterAll(() => scene.close());

  const press = (name: string) => page.getByRole('button', { name: `${name}: plants` }).click();
  const jobs = () => page.getByRole('region', { name: 'Jobs' });

  it('[H08] [U03] tell when they run next, as text', async () => {
    await jobs().getByText('cron 0 9 * * *').waitFor();
    await expect.poll(() => jobs().innerText()).toContain(TASK);
    await expect.poll(() => jobs().innerText()).toContain('It has not run yet.');
    expect(await page.title()).not.toBe('1');
    const isWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
    expect(await page.evaluate(isWide)).toBe(false);
  });

  it('[H08] [U03] are run, paused and removed there', async () => {
    await press('Run now');
    await openView(page, 'Chat');
    await untilAnswer(page, 'Water them now.');
    await openView(page, 'Heartbeat');
    await jobs().getByText('Last run').waitFor();
    await press('Pause');
    await jobs().getByText('; paused').waitFor();
    await press('Resume');
    await jobs().getByText('; next').waitFor();
    await press('Remove');
    await jobs().getByText('There are none.').waitFor();
  });
});
