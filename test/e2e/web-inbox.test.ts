import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { findPageFaults } from './page-faults.ts';
import { field, LOOKS, openSection, resizePage, sendMessage, untilAnswer } from './web-scene.ts';
import { startWebTelegramScene, type WebTelegramScene } from './web-telegram-scene.ts';

const chromiumUrl = inject('chromiumUrl');
const TRAINS = 'The **7:32** is the fastest:\n\n| leaves | arrives |\n|---|---|\n| 7:32 | 9:20 |';

describe.runIf(chromiumUrl)("the page's inbox", () => {
  let scene: WebTelegramScene;
  let page: Page;
  beforeAll(async () => {
    scene = await startWebTelegramScene(chromiumUrl ?? '');
    page = await scene.open({ viewport: { width: 1440, height: 860 } });
    await sendMessage(page, 'a note about ships');
    await untilAnswer(page, 'You said: a note about ships');
    scene.model.queue(TRAINS);
    scene.sayAsAnn('When do the trains leave?');
    await row('Ann').getByText('7:32').waitFor();
  });
  afterAll(() => scene.close());

  const rows = () => page.getByRole('navigation', { name: 'Conversations' }).getByRole('link');
  const row = (text: string) => rows().filter({ hasText: text });
  const titles = () => page.locator('.inbox-row .entry-title').allInnerTexts();
  const menu = async (item: string) => {
    await page.getByRole('button', { name: 'Chat menu' }).click();
    await page.getByRole('group', { name: 'Chat' }).getByRole('button', { name: item }).click();
  };

  it('[U03] lists web chats and the chats of all channels, and shows an answer the way the chat does', async () => {
    expect(await titles()).toEqual(['Ann', 'a note about ships']);
    await row('Ann').click();
    await page.getByRole('heading', { name: 'Ann', exact: true }).waitFor();
    const answer = page.getByRole('article', { name: /^Answer/ });
    await answer.getByRole('cell', { name: '9:20' }).waitFor();
    expect(await answer.locator('strong').innerText()).toBe('7:32');
    const details = page.getByRole('complementary', { name: 'About this chat' });
    await details.getByText('1 turn').waitFor();
    await details.getByRole('button', { name: 'Why' }).click();
    await details.getByRole('heading', { name: 'Answered.' }).waitFor();
    await details.getByRole('link', { name: 'The prompt of its turn' }).waitFor();
    await details.getByRole('button', { name: 'Details' }).click();
  });

  it('[U03] pins, renames and archives a chat, even across a reload', async () => {
    await row('ships').click();
    await field(page).waitFor();
    await menu('Pin');
    await expect.poll(titles).toEqual(['a note about ships', 'Ann']);
    await page.getByRole('button', { name: 'Chat menu' }).click();
    await page.getByRole('button', { name: 'Rename…' }).click();
    await page.getByRole('textbox', { name: /^Chat name/ }).fill('Harbor');
    await page.keyboard.press('Enter');
    await expect.poll(titles).toEqual(['Harbor', 'Ann']);
    await page.reload();
    await expect.poll(titles).toEqual(['Harbor', 'Ann']);
    await menu('Archive');
    await expect.poll(titles).toEqual(['Ann']);
    const filters = page.getByRole('group', { name: 'Show' });
    await filters.getByRole('button', { name: 'Archived' }).click();
    await expect.poll(titles).toEqual(['Harbor']);
    await menu('Move to the inbox');
    await menu('Unpin');
    await filters.getByRole('button', { name: 'All' }).click();
    await expect.poll(titles).toEqual(['Ann', 'Harbor']);
    await filters.getByRole('button', { name: 'Mine' }).click();
    await expect.poll(titles).toEqual(['Harbor']);
    await filters.getByRole('button', { name: 'All' }).click();
  });

  it('[U08] searches names and messages while a person types, and highlights matches', async () => {
    const search = page.getByRole('searchbox', { name: 'Search in all conversations' });
    await search.pressSequentially('tráins');
    const hit = page.locator('.excerpt mark');
    await expect.poll(() => hit.allInnerTexts()).toEqual(['trains']);
    await search.fill('harbor');
    await expect.poll(() => page.locator('.entry-title mark').allInnerTexts()).toEqual(['Harbor']);
    await search.fill('harbor trains');
    await page.getByText('No results').waitFor();
    await search.fill('?!');
    await page.getByText('No results').waitFor();
    await search.fill('');
    await expect.poll(titles).toEqual(['Ann', 'Harbor']);
  });

  it('[U03] opens any page, chat or command through the palette by keyboard only', async () => {
    await page.keyboard.press('Control+k');
    const palette = page.getByRole('dialog', { name: 'Go to' });
    await palette.getByRole('combobox').pressSequentially('audit');
    expect(await findPageFaults(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Audit' }).waitFor();
    await page.keyboard.press('Control+k');
    await palette.getByRole('combobox').pressSequentially('ann');
    await palette.getByRole('option', { name: /^Ann/ }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Ann', exact: true }).waitFor();
    await page.keyboard.press('Control+k');
    await palette.getByRole('combobox').pressSequentially('/whoami');
    await page.keyboard.press('Enter');
    await untilAnswer(page, 'web:owner');
  });

  it('[U03] lists its shortcuts, and ignores letters typed in a field', async () => {
    await field(page).press('?');
    await field(page).press('n');
    expect(await field(page).inputValue()).toBe('?n');
    await field(page).fill('');
    await openSection(page, 'Operate');
    await page.getByRole('heading', { name: 'Status', exact: true }).waitFor();
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await help.getByText('New chat').waitFor();
    expect(await findPageFaults(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await help.waitFor({ state: 'detached' });
    await page.keyboard.press('n');
    await page.getByRole('heading', { name: /Say hello to/ }).waitFor();
  });

  it.each([
    ['files', 'Agent'],
    ['memory', 'Agent'],
    ['skills', 'Agent'],
    ['heartbeat', 'Agent'],
    ['jobs', 'Agent'],
    ['hooks', 'Agent'],
    ['soul', 'Agent'],
    ['prompt', 'Agent'],
    ['preview', 'Agent'],
    ['status', 'Operate'],
    ['channels', 'Operate'],
    ['queue', 'Operate'],
    ['approvals', 'Operate'],
    ['why/last', 'Operate'],
    ['usage', 'Operate'],
    ['logs', 'Operate'],
    ['audit', 'Operate'],
    ['people', 'Operate'],
    ['sessions', 'Operate'],
    ['settings', 'Settings'],
    ['setup', 'Settings'],
    ['conversations', 'Inbox'],
    ['chat/main', 'Inbox'],
    ['no-such-page', 'Inbox'],
  ])('[U03] still accepts the older address #/%s, which is now in %s', async (path, place) => {
    await page.goto(`${scene.parley.address}/#/${path}`);
    const current = page.locator('nav.rail a[aria-current]');
    await expect.poll(() => current.innerText()).toMatch(new RegExp(`^${place}`));
    await page.locator('main:visible').first().waitFor();
  });

  it('[U08] cancels an edit on Escape, and marks a stopped answer once', async () => {
    await page.goto(`${scene.parley.address}/#/`);
    await sendMessage(page, 'first try');
    await untilAnswer(page, 'You said: first try');
    await page.getByRole('button', { name: 'Edit and resend' }).press('Enter');
    await page.getByText('Replaces your last message').waitFor();
    await field(page).press('Escape');
    await page.getByText('Replaces your last message').waitFor({ state: 'detached' });
    expect(await field(page).inputValue()).toBe('');
    scene.model.pauseBehind('Word 3.');
    scene.model.queue({ text: Array.from({ length: 90 }, (_, index) => `Word ${index + 1}. `) });
    await sendMessage(page, 'Go on and on');
    await page.locator('.is-live').getByText('Word 2.').waitFor();
    await page.locator('.composer').getByRole('button', { name: 'Stop' }).click();
    await untilAnswer(page, 'Stopped.');
    await page.locator('.is-live').waitFor({ state: 'detached' });
    const log = page.getByRole('log', { name: 'Conversation' });
    await expect.poll(() => log.getByText(/stop/i).allInnerTexts()).toEqual(['Stopped.']);
    await page.reload();
    await untilAnswer(page, 'Stopped.');
    expect(await log.getByText(/stop/i).allInnerTexts()).toEqual(['Stopped.']);
  });

  it('[U12] lets a person take over a chat, write as the agent and as themselves, and hand it back', async () => {
    await page.goto(`${scene.parley.address}/#/conversations`);
    await row('Ann').click();
    await page.getByRole('button', { name: 'Take over' }).click();
    await page.getByText(/You have taken this chat over until/).waitFor();
    const asked = scene.model.requests.length;
    scene.sayAsAnn('And on Sunday?');
    await page.getByRole('article', { name: /^Ann/ }).getByText('And on Sunday?').waitFor();
    const reply = page.getByRole('textbox', { name: 'Reply to Ann' });
    await reply.fill('Every **hour**.');
    await reply.press('Enter');
    const sent = () => scene.textsForAnn();
    await expect.poll(sent).toContain('Every hour.');
    await expect.poll(() => reply.inputValue()).toBe('');
    await page.getByRole('button', { name: 'As myself' }).click();
    await reply.fill('I will bring the tickets');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await expect.poll(sent).toContainEqual(expect.stringMatching(/^The owner: I will bring/));
    await page.getByText('The owner', { exact: true }).last().waitFor();
    expect(await findPageFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Hand back' }).click();
    await page.getByRole('button', { name: 'Take over' }).waitFor();
    expect(scene.model.requests).toHaveLength(asked);
  });

  it('[U03] is readable in light and dark and on a phone, with its menu and its details open', async () => {
    const own = await scene.open();
    for (const [colorScheme, width] of LOOKS) {
      await resizePage(own, colorScheme, width);
      await own.goto(`${scene.parley.address}/#/conversations`);
      await own.locator('.inbox-row', { hasText: 'Ann' }).focus();
      await own.keyboard.press('Enter');
      await own.getByRole('cell', { name: '9:20' }).waitFor();
      expect([width, await findPageFaults(own)]).toEqual([width, []]);
      await own.getByRole('button', { name: 'Chat menu' }).press('Enter');
      expect([width, 'menu', await findPageFaults(own)]).toEqual([width, 'menu', []]);
      await own.getByRole('button', { name: 'Details' }).press('Enter');
      await own.getByRole('button', { name: 'Close the details' }).waitFor();
      await own.getByText(/^\d turns?$/).waitFor();
      expect([width, 'details', await findPageFaults(own)]).toEqual([width, 'details', []]);
      await own.getByRole('button', { name: 'Close the details' }).press('Enter');
    }
    await own.context().close();
  });
});
