import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { findPageFaults } from './page-faults.ts';
import { createWebClient } from './web-client.ts';
import {
  LOOKS,
  openView,
  resizePage,
  sendMessage,
  startWebScene,
  untilAnswer,
  type WebScene,
} from './web-scene.ts';

const chromiumUrl = inject('chromiumUrl');

describe.runIf(chromiumUrl)('conversations of all channels on the web page', () => {
  let scene: WebScene;
  let chat: Page;
  let page: Page;
  beforeAll(async () => {
    scene = await startWebScene(chromiumUrl ?? '');
    chat = await scene.open();
    for (const text of ['Wie groß ist die Größe?', '公园在哪里', '<b>third</b>']) {
      await sendMessage(chat, text);
      await untilAnswer(chat, `You said: ${text}`);
    }
    page = await scene.open({ viewport: { width: 1440, height: 860 } });
    await page.goto(`${scene.parley.address}/#/conversations`);
    await link().waitFor();
  });
  afterAll(() => scene.close());

  const link = () => page.locator('.inbox-row').first();
  const sheet = () => page.locator('.talk');
  const panel = () => page.getByRole('complementary', { name: 'About this chat' });
  /** A chat on the page has an address like every other conversation. */
  const ADDRESS = '#/conversations/web:default:main';
  const open = () => page.goto(`${scene.parley.address}/${ADDRESS}`);
  const message = (text: string) => sheet().locator('.said-message', { hasText: text }).first();

  it('[U08] are listed with the start of their last message, and shown beside the list', async () => {
    expect(await link().innerText()).toContain('\nYou said: <b>third</b>');
    await open();
    await message('Wie groß ist die Größe?').waitFor();
    const texts = await sheet().locator('.said-text').allInnerTexts();
    expect(texts).toHaveLength(6);
    expect(texts.slice(-2)).toEqual(['<b>third</b>', 'You said: <b>third</b>']);
    await panel().getByText('3 turns').waitFor();
  });

  it('[U08] [D08] show the status of each message below the start of its text', async () => {
    const third = message('公园在哪里');
    await third.getByRole('button', { name: 'Why' }).click();
    await third.getByRole('heading', { name: 'Answered.' }).waitFor();
    expect(await third.locator('.why-name').innerText()).toBe('公园在哪里');
    await third.getByRole('button', { name: 'Why' }).click();
    await third.locator('.why-stages').waitFor({ state: 'detached' });
  });

  it('[U08] update their status (waiting, running, new) while another conversation is open', async () => {
    const late = Promise.withResolvers<string>();
    scene.model.reply(() => late.promise);
    await page.goto(`${scene.parley.address}/#/conversations`);
    await sendMessage(chat, 'a slow question');
    await link().getByText('Running').waitFor();
    expect(await link().innerText()).toContain('a slow question');
    await open();
    await panel().getByRole('button', { name: 'Stop' }).click();
    await panel().getByRole('button', { name: 'Stop it' }).click();
    await message('a slow question').getByText('stopped').waitFor();
    late.resolve('too late');
    await link().getByText('Running').waitFor({ state: 'detached' });
    await page.goto(`${scene.parley.address}/#/conversations`);
    // If the page showed this chat, it would mark the answer as read before the list shows it.
    const address = chat.url();
    await openView(chat, 'Status');
    await createWebClient(scene.parley).post('/status');
    await link().getByText('New', { exact: true }).waitFor();
    await open();
    await link().getByText('New', { exact: true }).waitFor({ state: 'detached' });
    await chat.goto(address);
  });

  it('[U08] can change their mode, and start a new session', async () => {
    await panel()
      .getByLabel(/^Mode(?!l)/)
      .selectOption('plan');
    await sendMessage(chat, '/mode');
    await untilAnswer(chat, /plan/);
    await panel().getByRole('button', { name: 'Clear context' }).click();
    await panel().getByRole('button', { name: 'Clear it' }).click();
    await panel().getByRole('button', { name: 'Clear context' }).waitFor();
    await panel()
      .getByLabel(/^Mode(?!l)/)
      .selectOption('agent');
  });

  it('[U08] are found by words in any language, and a result leads to its position', async () => {
    const field = page.getByRole('searchbox', { name: 'Search in all conversations' });
    await field.fill('公园');
    await page.getByText('2 results').waitFor();
    expect(await page.locator('.excerpt mark').allInnerTexts()).toEqual(['公园', '公园']);
    await page.locator('.entry-link', { hasText: 'Answer' }).click();
    await sheet().locator('[aria-current]', { hasText: 'You said: 公园在哪里' }).waitFor();
    await field.fill('grosse');
    await page.locator('.excerpt mark', { hasText: 'Größe' }).first().waitFor();
    await field.fill('nowhere');
    await page.getByText('No results').waitFor();
    await field.fill('');
    // The list has returned, either before the answer to /mode or together with it.
    await link()
      .getByText(/a slow question|in plan mode/)
      .waitFor();
  });

  it('[U08] load older messages without limit, and keep the scroll position', async () => {
    for (let nth = 0; nth < 27; nth += 1) await sendMessage(chat, `/status ${100 + nth}`);
    await chat.getByRole('log').locator('.mine.is-sent', { hasText: '/status 126' }).waitFor();
    await page.goto(`${scene.parley.address}/#/conversations`);
    await open();
    await message('/status 126').waitFor();
    expect(await message('Wie groß').isVisible()).toBe(false);
    await sheet().getByRole('button', { name: 'Older messages' }).click();
    await message('Wie groß').waitFor();
    await sheet().getByRole('button', { name: 'Older messages' }).waitFor({ state: 'detached' });
  });

  it('[U03] cannot be read without the token', async () => {
    for (const path of ['/api/conversations/list', '/api/conversations/search?words=a']) {
      expect((await fetch(`${scene.parley.address}${path}`)).status).toBe(401);
    }
  });

  it('[U03] are readable in light and dark, and fit a phone', async () => {
    const own = await scene.open();
    for (const [colorScheme, width] of LOOKS) {
      await resizePage(own, colorScheme, width);
      await own.goto(`${scene.parley.address}/#/conversations`);
      await own.goto(`${scene.parley.address}/${ADDRESS}`);
      const first = own.locator('.said-message').first();
      await first.waitFor();
      await first.getByRole('button', { name: 'Why' }).focus();
      await own.keyboard.press('Enter');
      await first.locator('.why-stages').waitFor();
      expect([width, await findPageFaults(own)]).toEqual([width, []]);
    }
    await own.context().close();
  });
});
