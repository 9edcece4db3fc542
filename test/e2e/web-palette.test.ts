import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { findPageFaults } from './page-faults.ts';
import { field, openView, sendMessage, untilAnswer } from './web-scene.ts';
import { startWebTelegramScene, type WebTelegramScene } from './web-telegram-scene.ts';

const chromiumUrl = inject('chromiumUrl');
/** The id of the second chat on the page. */
const BIRDS = 'b'.repeat(32);

describe.runIf(chromiumUrl)('the palette and the names of chats', () => {
  let scene: WebTelegramScene;
  let page: Page;
  beforeAll(async () => {
    scene = await startWebTelegramScene(chromiumUrl ?? '');
    page = await scene.open({ viewport: { width: 1440, height: 860 } });
    await sendMessage(page, 'a note about ships');
    await untilAnswer(page, 'You said: a note about ships');
    await openChat(BIRDS);
    await page.getByRole('heading', { name: /Say hello to/ }).waitFor();
    await sendMessage(page, 'a note about birds');
    await untilAnswer(page, 'You said: a note about birds');
    scene.sayAsAnn('Hello');
    await row('Ann').getByText('You said: Hello').waitFor();
  });
  afterAll(() => scene.close());

  const row = (text: string) =>
    page
      .getByRole('navigation', { name: 'Conversations' })
      .getByRole('link')
      .filter({ hasText: text });
  const openChat = (chat: string) => page.goto(`${scene.parley.address}/#/chat/${chat}`);
  const palette = () => page.getByRole('dialog', { name: 'Go to' });
  const type = async (text: string) => {
    await page.keyboard.press('Control+k');
    await palette().getByRole('combobox').fill(text);
  };
  const command = async (text: string) => {
    await type(text);
    await page.keyboard.press('Enter');
  };
  const search = async (words: string) => {
    await page.getByRole('searchbox', { name: 'Search in all conversations' }).fill(words);
    return page.getByRole('navigation', { name: 'Search results' });
  };
  const said = () => page.getByRole('log', { name: 'Conversation' }).innerText();
  const title = (name: string) => page.getByRole('heading', { level: 1, name, exact: true });
  const isAt = (hash: string) => expect.poll(() => new URL(page.url()).hash).toBe(hash);

  it('[U03] send a command to the chat that was open, even from another view', async () => {
    await openChat(BIRDS);
    await field(page).waitFor();
    await openView(page, 'Queue');
    await command('/whoami');
    await untilAnswer(page, 'web:owner');
    await isAt(`#/chat/${BIRDS}`);
    expect(await said()).toContain('/whoami');
    await openChat('main');
    await untilAnswer(page, 'You said: a note about ships');
    expect(await said()).not.toContain('/whoami');
  });

  it('[U03] send a command to the chat of the displayed search result', async () => {
    await (await search('birds')).getByRole('link', { name: /You said: a note about/ }).click();
    await page.getByRole('link', { name: 'Open this chat to write in it' }).waitFor();
    await command('/status');
    await isAt(`#/chat/${BIRDS}`);
    await expect.poll(said).toContain('/status');
    await search('');
    await openChat('main');
    await untilAnswer(page, 'You said: a note about ships');
    expect(await said()).not.toContain('/status');
  });

  it('[U03] stop the turn of the displayed conversation on any channel, and report a failure', async () => {
    await row('Ann').click();
    await title('Ann').waitFor();
    scene.model.pauseBehind('Word 3.');
    scene.model.queue({ text: Array.from({ length: 90 }, (_, index) => `Word ${index + 1}. `) });
    scene.sayAsAnn('Go on and on');
    await row('Ann').getByText('Running').waitFor();
    await page.route('**/api/conversations/stop', (route) => route.abort());
    await command('/stop');
    await palette().getByRole('alert').getByText('The gateway does not answer.').waitFor();
    expect(await findPageFaults(page)).toEqual([]);
    await page.unroute('**/api/conversations/stop');
    await page.keyboard.press('Enter');
    await palette().waitFor({ state: 'detached' });
    await row('Ann').getByText('Running').waitFor({ state: 'detached' });
    await title('Ann').waitFor();
    await openChat(BIRDS);
    await untilAnswer(page, 'web:owner');
    expect(await said()).not.toContain('/stop');
  });

  it("[U03] show a chat's own name in the list, the palette, the header and the search", async () => {
    await openChat(BIRDS);
    await field(page).waitFor();
    await rename('Aviary');
    await row('Aviary').waitFor();
    await title('Aviary').waitFor();
    await page.getByRole('complementary').locator('b', { hasText: 'Aviary' }).waitFor();
    const found = await search('note birds');
    await found.getByRole('link', { name: /^Aviary.*You said/s }).waitFor();
    await search('');
    await type('aviary');
    await palette()
      .getByRole('option', { name: /^Aviary/ })
      .waitFor();
    await palette().getByRole('combobox').fill('ships');
    await palette()
      .getByRole('option', { name: /^a note about ships/ })
      .waitFor();
    await page.keyboard.press('Enter');
    await title('Aviary').waitFor({ state: 'detached' });
    await row('Ann').click();
    await title('Ann').waitFor();
    await rename('Ann of the harbor');
    await page.getByRole('textbox', { name: 'Reply to Ann of the harbor' }).waitFor();
  });

  const rename = async (name: string) => {
    await page.getByRole('button', { name: 'Chat menu' }).click();
    await page.getByRole('button', { name: 'Rename…' }).click();
    await page.getByRole('textbox', { name: 'Chat name' }).fill(name);
    await page.keyboard.press('Enter');
  };
});
