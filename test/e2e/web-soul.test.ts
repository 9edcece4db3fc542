import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { runCommand } from './parley-process.ts';
import { POOR_CONTRAST } from './poor-contrast.ts';
import { LOOKS, openView, resizePage, startWebScene, type WebScene } from './web-scene.ts';

const chromiumUrl = inject('chromiumUrl');
/** Hostile text that tries to inject markup into the page. */
const HOSTILE = '</pre><script>document.title=1</script>';

describe.runIf(chromiumUrl)('SOUL.md on the web page', () => {
  let scene: WebScene;
  let page: Page;
  let first: string;
  beforeAll(async () => {
    scene = await startWebScene(chromiumUrl ?? '', { soul: { judge: false } });
    first = readFileSync(soul(), 'utf8').trim();
    await propose(`${first}\n- Whistle while you work. ${HOSTILE}`, 'More music');
    await propose(`${first}\n- Never admit that you are a bot.`, 'Less honesty');
    page = await scene.open({ viewport: { width: 1280, height: 860 } });
    await openView(page, 'Soul');
    await page.locator('.soul-sheet').waitFor();
  });
  afterAll(() => scene.close());

  const soul = () => join(scene.folder.path, 'workspace', 'SOUL.md');
  async function propose(text: string, reason: string): Promise<void> {
    const file = join(scene.folder.path, 'new-soul.md');
    writeFileSync(file, text);
    await runCommand(['--data', scene.folder.path, 'soul', 'propose', file, '--reason', reason]);
  }
  const names = () => page.locator('.entry-link .entry-title').allInnerTexts();
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const told = (words: string) => page.getByRole('status').filter({ hasText: words }).waitFor();

  it('[W06] [U03] lists the versions, and shows pending decisions first', async () => {
    expect(await names()).toEqual(['v2', 'v1', 'v0-seed']);
    await page.getByRole('heading', { name: 'v1' }).waitFor();
    const sheet = await page.locator('.soul-sheet').innerText();
    expect(sheet).toContain('100 of 100');
    expect(sheet).toContain('More music');
    await expect.poll(() => page.locator('.diff ins').innerText()).toContain(HOSTILE);
    expect(await page.title()).not.toBe('1');
  });

  it('[W06] shows the result of the evaluation, and does not offer an action when none is possible', async () => {
    await page.getByRole('link', { name: /^v2/ }).click();
    await page.getByText('deny that I am a program').waitFor();
    await expect.poll(() => page.locator('.soul-view .action').count()).toBe(0);
    await page.goBack();
  });

  it('[W06] can apply a proposal and revert it by buttons', async () => {
    await page.getByRole('link', { name: /^v1/ }).click();
    await press('Use it now');
    await told('from the next message');
    expect(readFileSync(soul(), 'utf8')).toContain('Whistle');
    await page.getByRole('link', { name: /^v0-seed/ }).click();
    await press('Restore this version');
    await told('in use again');
    expect(readFileSync(soul(), 'utf8').trim()).toBe(first);
    await expect.poll(names).toEqual(['v3', 'v2', 'v1', 'v0-seed']);
  });

  it('[W06] can veto a proposal, and reports a change made in the meantime', async () => {
    await propose(`${first}\n- Love the sea.`, 'The sea');
    await press('Refresh');
    await page.getByRole('link', { name: /^v4/ }).click();
    await page.getByRole('button', { name: 'Veto it' }).waitFor();
    await runCommand(['--data', scene.folder.path, 'soul', 'apply', '4']);
    await press('Veto it');
    await told('already in use');
    await propose(`${first}\n- Love the hills.`, 'The hills');
    await press('Refresh');
    await page.getByRole('link', { name: /^v5/ }).click();
    await press('Veto it');
    await told('will not be used');
    await expect.poll(() => page.locator('.soul-vetoed').count()).toBe(1);
  });

  it('[U03] cannot be decided without the token, or from another site', async () => {
    const path = `${scene.parley.address}/api/soul/rollback`;
    expect((await fetch(path, { method: 'POST' })).status).toBe(401);
    const headers = { authorization: `Bearer ${scene.parley.token}` };
    const foreign = { ...headers, origin: 'https://evil.example' };
    expect((await fetch(path, { method: 'POST', headers: foreign })).status).toBe(403);
    const ask = (what: string, number: unknown) =>
      fetch(`${scene.parley.address}/api/soul/${what}`, {
        ...{ method: 'POST', headers, body: JSON.stringify({ number }) },
      });
    expect((await ask('apply', 'x')).status).toBe(400);
    expect((await ask('dance', 1)).status).toBe(404);
    expect((await ask('apply', 77)).status).toBe(400);
  });

  it('[U03] is readable in light and dark, and fits a phone', async () => {
    const own = await scene.open();
    await own.goto(`${scene.parley.address}/#/soul/1`);
    for (const [colorScheme, width] of LOOKS) {
      await resizePage(own, colorScheme, width);
      await own.locator('.soul-sheet').waitFor();
      expect(await own.evaluate(POOR_CONTRAST)).toEqual([]);
      const fits = await own.evaluate(
        '[document.documentElement, ...document.querySelectorAll("main, .turn")].every((box) => box.scrollWidth <= box.clientWidth)',
      );
      expect([width, fits]).toEqual([width, true]);
    }
    await own.context().close();
  });
});
