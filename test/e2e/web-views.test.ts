import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDueToday } from '@parley/core/testing';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { findPageFaults } from './page-faults.ts';
import {
  listViewAddresses,
  openView,
  resizePage,
  sendMessage,
  startWebScene,
  untilAnswer,
  type WebScene,
} from './web-scene.ts';

const chromiumUrl = inject('chromiumUrl');
/** The tests of single views use LOOKS. */
const OTHER_LOOKS = [
  ['light', 320],
  ['dark', 1280],
] as const;

/**
 * The appearances in which a view is tested; a normal run tests only one, which differs between
 * neighboring views and from day to day.
 */
function looksOf(view: number) {
  return OTHER_LOOKS.filter((_, look) => isDueToday(view + look, OTHER_LOOKS.length));
}

describe.runIf(chromiumUrl)('every view of the page', () => {
  let scene: WebScene;
  beforeAll(async () => {
    // With a second agent, all views contain the agent selector.
    scene = await startWebScene(chromiumUrl ?? '', { agents: { desk: { name: 'Help desk' } } });
    for (const [folder, text] of [
      ['workspace', 'The boat is green.'],
      ['workspaces/desk', 'The desk is open at nine.'],
    ] as const)
      writeFileSync(join(scene.folder.path, folder, 'MEMORY.md'), `# Memory\n\n- ${text}\n`);
    const page = await scene.open();
    await sendMessage(page, 'hello');
    await untilAnswer(page, 'You said: hello');
    await page.context().close();
  });
  afterAll(() => scene.close());

  it('[U03] fits a phone, is readable in light and dark, and does not have axe violations', async () => {
    const page = await scene.open();
    const views = [...(await listViewAddresses(page)), '#/conversations'];
    expect(views.length).toBeGreaterThan(19);
    for (const [nth, view] of views.entries()) {
      await page.goto(`${scene.parley.address}/${view}`);
      const main = page.locator('main:visible');
      await main.waitFor();
      await main.getByText('Loading…').first().waitFor({ state: 'detached' });
      for (const [colorScheme, width] of looksOf(nth)) {
        await resizePage(page, colorScheme, width);
        expect([view, width, await findPageFaults(page)]).toEqual([view, width, []]);
      }
    }
    await page.context().close();
  }, 240_000);

  it('[U03] is loaded when it is opened, even by keyboard', async () => {
    const page = await scene.open({ viewport: { width: 320, height: 740 } });
    const loaded: string[] = [];
    page.on('request', (request) => loaded.push(new URL(request.url()).pathname));
    await page.reload();
    await page.getByText('Connected', { exact: true }).waitFor();
    expect(loaded.filter((path) => path.includes('audit'))).toEqual([]);
    const tabTo = async (name: RegExp) => {
      const link = page.getByRole('link', { name });
      const isThere = () => link.evaluate((one) => one === one.ownerDocument.activeElement);
      while (!(await isThere())) await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
    };
    await tabTo(/^Operate/);
    await tabTo(/^Audit/);
    await page.getByRole('heading', { name: 'Audit' }).waitFor();
    expect(loaded.filter((path) => path.includes('/audit-'))).toHaveLength(1);
    await page.context().close();
  });

  it('[U03] is reached with one key that skips the navigation', async () => {
    const page = await scene.open();
    await openView(page, 'Queue');
    await page.getByRole('heading', { name: 'Queue' }).waitFor();
    await page.getByRole('button', { name: 'Skip to content' }).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Refresh');
    await page.context().close();
  });

  it('[U03] asks for a reload when its file is missing, and keeps its content while the gateway is down', async () => {
    const page = await scene.open();
    await page.route('**/page/soul-*', (route) => route.fulfill({ status: 404 }));
    await openView(page, 'Soul');
    await page.getByRole('alert').filter({ hasText: 'Reload the page' }).waitFor();
    await openView(page, 'Audit');
    const finding = page.getByRole('article').first();
    await finding.waitFor();
    await page.route('**/api/audit/report', (route) => route.abort());
    await page.getByRole('button', { name: 'Check again' }).click();
    await page.getByRole('alert').filter({ hasText: 'does not answer' }).waitFor();
    await finding.waitFor();
    await page.unroute('**/api/audit/report');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('[P17] appends older pages to a list, and keeps them when new entries arrive', async () => {
    const page = await scene.open();
    const place = { channel: 'web', account: 'default', title: null, chatType: 'direct' };
    const turn = (id: string) => ({
      turnId: id,
      at: 1,
      tokens: 1,
      place: { ...place, personName: id },
    });
    let newest = { prompts: [turn('new')], next: 'a' };
    const pages: Readonly<Record<string, object>> = {
      a: { prompts: [turn('old')], next: null },
      b: { prompts: [turn('new')], next: 'a' },
    };
    await page.route('**/api/prompts/list*', (route) => {
      const before = new URL(route.request().url()).searchParams.get('before');
      return route.fulfill({ json: before === null ? newest : (pages[before] ?? {}) });
    });
    await openView(page, 'Prompt');
    const names = () => page.locator('.entry-title').allInnerTexts();
    await page.getByRole('button', { name: 'Older turns' }).click();
    await expect.poll(names).toEqual(['new', 'old']);
    const asked = page.waitForResponse('**/api/prompts/list');
    await page.evaluate("dispatchEvent(new Event('focus'))");
    await asked;
    await page.getByRole('button', { name: 'Older turns' }).waitFor({ state: 'detached' });
    expect(await names()).toEqual(['new', 'old']);
    newest = { prompts: [turn('newer')], next: 'b' };
    await page.evaluate("dispatchEvent(new Event('focus'))");
    await expect.poll(names).toEqual(['newer', 'new', 'old']);
    await page.context().close();
  });

  it('[F14] [U03] shows the data of the selected agent, and chats with it, at an address that keeps the selection', async () => {
    const page = await scene.open({ viewport: { width: 320, height: 740 } });
    const choice = page.getByRole('combobox', { name: 'Agent' });
    const title = (name: string) => page.getByRole('heading', { name, exact: true }).waitFor();
    await openView(page, 'Memory');
    await page.getByText('The boat is green.').waitFor();
    await choice.focus();
    await choice.selectOption('Help desk');
    await title('Memory · Help desk');
    await page.getByText('The desk is open at nine.').waitFor();
    expect(await page.getByText('The boat is green.').count()).toBe(0);
    await page.reload();
    await page.getByText('The desk is open at nine.').waitFor();
    await page.getByRole('link', { name: 'Edit the file' }).click();
    const editor = page.getByRole('textbox', { name: 'Text of MEMORY.md' });
    await editor.click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('- Bells ring.');
    await choice.selectOption({ index: 0 });
    await editor.filter({ hasText: 'The boat is green.' }).waitFor();
    // The draft for the other agent is still present.
    expect(await editor.innerText()).not.toContain('Bells ring.');
    await page.goBack();
    await editor.filter({ hasText: 'Bells ring.' }).waitFor();
    await editor.press('Control+s');
    await page.getByRole('status').filter({ hasText: 'Saved.' }).waitFor();
    const path = (folder: string) => join(scene.folder.path, folder, 'MEMORY.md');
    expect(readFileSync(path('workspaces/desk'), 'utf8')).toContain('Bells ring.');
    expect(readFileSync(path('workspace'), 'utf8')).not.toContain('Bells ring.');

    await page.goto(`${scene.parley.address}/#/conversations`);
    await page.getByRole('button', { name: 'New chat with…' }).click();
    await page.getByRole('link', { name: /^Help desk/ }).click();
    await page.getByRole('textbox', { name: 'Message to Help desk' }).waitFor();
    await sendMessage(page, 'are you open?');
    await untilAnswer(page, 'You said: are you open?');
    expect(JSON.stringify(scene.model.requests.at(-1))).toContain('The desk is open at nine.');
    await title('Help desk');
    await page.getByRole('link', { name: 'All conversations' }).click();
    await page
      .getByRole('link', { name: /^are you open\?.*Help desk/ })
      .waitFor({ timeout: 15_000 });
    await page.goto(`${scene.parley.address}/#/conversations?agent=desk`);
    await title('Inbox · Help desk');
    const rows = page.locator('.inbox-row');
    await expect.poll(() => rows.allInnerTexts()).toEqual([expect.stringContaining('Help desk')]);
    await choice.selectOption('All agents');
    await expect.poll(() => rows.count()).toBe(2);
    await openView(page, 'Why');
    // The selection of the previous view remains until this view is loaded.
    await page.locator('.why-view').waitFor();
    await choice.selectOption('Help desk');
    const asked = page.locator('.why-view .entry-link');
    await expect.poll(() => asked.allInnerTexts()).toEqual([expect.stringContaining('Help desk')]);
    await openView(page, 'Status');
    await page.getByRole('region', { name: 'Agents' }).getByText('Help desk (desk)').waitFor();
    expect(await choice.count()).toBe(0);
    await page.context().close();
  });
});
