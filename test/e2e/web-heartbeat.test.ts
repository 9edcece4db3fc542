import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { getMessageText } from '../model/chat-request.ts';
import { POOR_CONTRAST } from './poor-contrast.ts';
import {
  answers,
  LOOKS,
  openView,
  resizePage,
  sendMessage,
  startWebScene,
  untilAnswer,
  type WebScene,
} from './web-scene.ts';

const chromiumUrl = inject('chromiumUrl');

/** Hostile file content that tries to inject markup into the page. */
const HOSTILE = '<img src=x onerror="document.title=1">';
const TASKS = `## mail
- every: 30 min
- do: Look through new mail. ${HOSTILE}

## a-task-with-a-very-long-name-that-does-not-break-anywhere-at-all-on-a-telephone
- between: 20:00-20:10
- do: ${'Look-at-it'.repeat(20)}

## news
- every: whenever
- do: Read the news.
`;

describe.runIf(chromiumUrl)('the heartbeat on the web page', () => {
  let scene: WebScene;
  let page: Page;
  let found = 'HEARTBEAT_OK';
  beforeAll(async () => {
    scene = await startWebScene(chromiumUrl ?? '', { heartbeat: { quietHours: 'off' } });
    scene.model.reply(({ messages }) =>
      getMessageText(messages.at(-1)).includes('standing task is due') ? found : 'You are welcome.',
    );
    page = await scene.open({ viewport: { width: 1100, height: 860 } });
    await sendMessage(page, 'hello');
    await untilAnswer(page, 'You are welcome.');
    await openView(page, 'Heartbeat');
  });
  afterAll(() => scene.close());

  const write = (tasks: string) => {
    const workspace = join(scene.folder.path, 'workspace');
    mkdirSync(workspace, { recursive: true });
    writeFileSync(join(workspace, 'HEARTBEAT.md'), tasks);
  };
  const card = (name: string, on: Page = page) => on.getByRole('article', { name, exact: true });
  const fits = (on: Page) =>
    on.evaluate(
      '[document.documentElement, ...document.querySelectorAll("main, .heartbeat-task, .heartbeat-runs")].every((box) => box.scrollWidth <= box.clientWidth)',
    );

  it('[H06] explains how to write a task when there are none', async () => {
    await page.getByText('## mail').waitFor();
    write(TASKS);
    await page.getByRole('button', { name: 'Refresh' }).click();
    await card('mail').waitFor();
  });

  it('[H02] reports invalid lines, and shows all text as plain text', async () => {
    const problems = page.getByRole('region', { name: 'Problems' });
    await expect.poll(() => problems.innerText()).toMatch(/line \d+, task news: found "whenever"/);
    await expect.poll(() => card('mail').innerText()).toContain(HOSTILE);
    await expect.poll(() => card('mail').locator('img').count()).toBe(0);
    expect(await page.title()).not.toBe('1');
  });

  it('[H03] runs a task immediately by keyboard, and reports when nothing was found', async () => {
    await page.getByRole('button', { name: 'Run mail now' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('mail is starting').waitFor();
    await card('mail').getByText('nothing to report').waitFor();
    await page.locator('.heartbeat-runs li', { hasText: 'nothing to report' }).waitFor();
    expect((await answers(page)).join()).not.toContain('HEARTBEAT_OK');
  });

  it('[H04] [G08] shows an alert and its cost, and the chat contains the marked alert', async () => {
    found = 'Two letters wait.';
    await page.getByRole('button', { name: 'Run mail now' }).click();
    const run = page.locator('.heartbeat-runs li').first();
    await run.getByText('sent to you').waitFor();
    await expect.poll(() => run.innerText()).toMatch(/\d tokens/);
    await expect.poll(() => run.locator('blockquote').innerText()).toBe('Two letters wait.');
    await openView(page, 'Chat');
    await untilAnswer(page, '⚙️ Two letters wait.');
    await openView(page, 'Heartbeat');
    await card('mail').waitFor();
  });

  it('[H04] reports when the same alert is found again', async () => {
    await page.getByRole('button', { name: 'Run mail now' }).click();
    await card('mail').getByText('the same as before').waitFor();
  });

  it('[U03] does not scroll sideways, and is readable in light and dark with a contrast of 4.5 for all text', async () => {
    const shown = await scene.open();
    await openView(shown, 'Heartbeat');
    for (const [colorScheme, width] of [...LOOKS, ['light', 390], ['dark', 768]] as const) {
      await resizePage(shown, colorScheme, width);
      await card('mail', shown).waitFor();
      expect([width, await fits(shown)]).toEqual([width, true]);
      expect(await shown.evaluate(POOR_CONTRAST)).toEqual([]);
    }
    await shown.context().close();
  });
});
