import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { faultsOf } from './page-faults.ts';
import {
  LOOKS,
  openView,
  say,
  showIn,
  startWebScene,
  untilAnswer,
  type WebScene,
} from './web-scene.ts';

const chromiumUrl = inject('chromiumUrl');

describe.runIf(chromiumUrl)('conversations of all channels on the page', () => {
  let scene: WebScene;
  let chat: Page;
  let page: Page;
  beforeAll(async () => {
    scene = await startWebScene(chromiumUrl ?? '');
    chat = await scene.open();
    for (const text of ['Wie groß ist die Größe?', '公园在哪里', '<b>third</b>']) {
      await say(chat, text);
      await untilAnswer(chat, `You said: ${text}`);
    }
    page = await scene.open({ viewport: { width: 1280, height: 860 } });
    await openView(page, 'Conversations');
    await page.locator('.entry-link').first().waitFor();
  });
  afterAll(() => scene.close());

  const link = () => page.locator('.conversations .entry-link').first();
  const sheet = () => page.locator('.conversation-sheet');
  const message = (text: string) => sheet().locator('.said-message', { hasText: text }).first();

  it('[U08] are listed with their last words, and shown beside the list', async () => {
    expect(await link().innerText()).toContain('Answer: You said: <b>third</b>');
    await link().click();
    await message('Wie groß ist die Größe?').waitFor();
    const texts = await sheet().locator('.said-text').allInnerTexts();
    expect(texts).toHaveLength(6);
    expect(texts.slice(-2)).toEqual(['<b>third</b>', 'You said: <b>third</b>']);
    expect(await sheet().innerText()).toContain('3 turns');
  });

  it('[U08] [D08] say of each message what happened, under its first words', async () => {
    const third = message('公园在哪里');
    await third.getByRole('button', { name: 'Why' }).click();
    await third.getByRole('heading', { name: 'Answered.' }).waitFor();
    expect(await third.locator('.why-name').innerText()).toBe('公园在哪里');
    await third.getByRole('button', { name: 'Why' }).click();
    await third.locator('.why-stages').waitFor({ state: 'detached' });
  });

  it('[U08] show live what waits and runs, and what is new, while another one is read', async () => {
    const late = Promise.withResolvers<string>();
    scene.model.reply(() => late.promise);
    await page.goto(`${scene.parley.address}/#/conversations`);
    await say(chat, 'a slow question');
    await link().getByText('Running').waitFor();
    await link().getByText('New', { exact: true }).waitFor();
    expect(await link().innerText()).toContain('a slow question');
    await link().click();
    await link().getByText('New', { exact: true }).waitFor({ state: 'detached' });
    await sheet().getByRole('button', { name: 'Stop' }).click();
    await sheet().getByRole('button', { name: 'Stop it' }).click();
    await message('a slow question').getByText('stopped').waitFor();
    late.resolve('too late');
    await link().getByText('Running').waitFor({ state: 'detached' });
  });

  it('[U08] are given another mode, and started again', async () => {
    await sheet()
      .getByLabel(/^Mode(?!l)/)
      .selectOption('plan');
    await say(chat, '/mode');
    await untilAnswer(chat, /plan/);
    await sheet().getByRole('button', { name: 'New session' }).click();
    await sheet().getByRole('button', { name: 'Start a new session' }).click();
    await sheet().getByRole('button', { name: 'New session' }).waitFor();
    await sheet()
      .getByLabel(/^Mode(?!l)/)
      .selectOption('agent');
  });

  it('[U08] are searched by words of any language, and a hit leads to its place', async () => {
    const field = page.getByRole('searchbox', { name: 'Search in all conversations' });
    await field.fill('公园');
    await field.press('Enter');
    await page.getByText('2 places found.').waitFor();
    await page.locator('.entry-link', { hasText: 'Answer' }).click();
    await sheet().locator('[aria-current]', { hasText: 'You said: 公园在哪里' }).waitFor();
    await field.fill('grosse');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.locator('.entry-link', { hasText: 'Größe' }).first().waitFor();
    await field.fill('nowhere');
    await field.press('Enter');
    await page.getByText('Nothing is found.').waitFor();
    await field.fill('');
    // The list is back, from before the answer to /mode or with it.
    await link()
      .getByText(/a slow question|in plan mode/)
      .waitFor();
  });

  it('[U08] show older messages without end, and stay where one reads', async () => {
    for (let nth = 0; nth < 27; nth += 1) await say(chat, `/status ${100 + nth}`);
    await chat.getByRole('log').locator('.mine.is-sent', { hasText: '/status 126' }).waitFor();
    await page.goto(`${scene.parley.address}/#/conversations`);
    await link().click();
    await message('/status 126').waitFor();
    expect(await message('Wie groß').isVisible()).toBe(false);
    await sheet().getByRole('button', { name: 'Older messages' }).click();
    await message('Wie groß').waitFor();
    await sheet().getByRole('button', { name: 'Older messages' }).waitFor({ state: 'detached' });
  });

  it('[U03] nobody reads them without the token', async () => {
    for (const path of ['/api/conversations/list', '/api/conversations/search?words=a']) {
      expect((await fetch(`${scene.parley.address}${path}`)).status).toBe(401);
    }
  });

  it('[U03] are readable in light and dark, and fit a telephone', async () => {
    const own = await scene.open();
    for (const [colorScheme, width] of LOOKS) {
      await showIn(own, colorScheme, width);
      await own.goto(`${scene.parley.address}/#/conversations`);
      await own.locator('.entry-link').first().focus();
      await own.keyboard.press('Enter');
      const first = own.locator('.said-message').first();
      await first.waitFor();
      await first.getByRole('button', { name: 'Why' }).focus();
      await own.keyboard.press('Enter');
      await first.locator('.why-stages').waitFor();
      expect([width, await faultsOf(own)]).toEqual([width, []]);
    }
    await own.context().close();
  });
});
