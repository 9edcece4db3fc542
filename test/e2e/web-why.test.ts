import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { runCommand } from './parley-process.ts';
import { POOR_CONTRAST } from './poor-contrast.ts';
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
const SECRET = 'amaranth';

describe.runIf(chromiumUrl)('the history of a message on the page and on the command line', () => {
  let scene: WebScene;
  let page: Page;
  beforeAll(async () => {
    scene = await startWebScene(chromiumUrl ?? '');
    page = await scene.open({ viewport: { width: 1280, height: 860 } });
    await sendMessage(page, `First ${SECRET}`);
    await untilAnswer(page, `You said: First ${SECRET}`);
    await sendMessage(page, '/status');
    await untilAnswer(page, 'is here');
    await openView(page, 'Why');
    await page.locator('.why-stages').waitFor();
  });
  afterAll(() => scene.close());

  const sheet = () => page.locator('.why-sheet').innerText();
  const why = (message: string, ...more: string[]) =>
    runCommand(['--data', scene.folder.path, 'why', message, ...more]);

  it('[D08] [U03] shows every stage of the newest message, and the start of its text', async () => {
    await page.getByRole('heading', { name: 'Answered.' }).waitFor();
    const words = await sheet();
    for (const stage of ['ingress', 'access', 'inbox', 'lane', 'turn', 'prompt', 'model', 'commit'])
      expect(words).toContain(stage);
    expect(words).toMatch(/delivery\s+the part: sent to the platform/);
    expect(words).toContain(`Owner: First ${SECRET} (Owner, web)`);
    const first = page.locator('.why-view .entry-link').nth(1);
    expect(await first.innerText()).toMatch(new RegExp(`Owner\\s.*\\sOwner: First ${SECRET}`, 's'));
    expect(await page.locator('.entries').innerText()).not.toMatch(/[0-9a-f]{8}/);
  });

  it('[D08] shows the selected or named message, and links to its prompt', async () => {
    await page.locator('.why-view .entry-link').first().click();
    await page.getByRole('heading', { name: /^A command, answered at once/ }).waitFor();
    await page.getByLabel('Message', { exact: true }).fill('nowhere');
    await page.getByRole('button', { name: 'Ask' }).click();
    await page.getByText('There is no such message.').waitFor();
    await page.getByLabel('Message', { exact: true }).fill('last');
    await page.getByRole('button', { name: 'Ask' }).click();
    await page.getByRole('link', { name: 'The prompt of its turn' }).click();
    await page.locator('.sheet').waitFor();
  });

  it('[D08] is shown by parley why, which asks the running gateway, in the same way', async () => {
    const { code, out } = await why('last');
    expect(code).toBe(0);
    expect(out).toMatch(/Answered\./);
    expect(out).toMatch(/model +asked: \d+ tokens in, \d+ out.*openai-compatible\/double/);
    expect(out).not.toContain(SECRET);
    const { out: json } = await why('last', '--json');
    expect(JSON.parse(json)).toMatchObject({ kind: 'found', timeline: { verdict: 'Answered.' } });
    expect((await why('nowhere')).code).toBe(1);
  });

  it('[D08] [U03] is hidden without the token', async () => {
    const response = await fetch(`${scene.parley.address}/api/why/message?message=last`);
    expect(response.status).toBe(401);
  });

  it('[U03] is readable in light and dark, and fits a phone', async () => {
    const own = await scene.open();
    await own.goto(`${scene.parley.address}/#/why/last`);
    for (const [colorScheme, width] of [...LOOKS, ['dark', 390], ['light', 320]] as const) {
      await resizePage(own, colorScheme, width);
      await own.locator('.why-stages').waitFor();
      expect(await own.evaluate(POOR_CONTRAST)).toEqual([]);
      const fits = await own.evaluate(
        '[document.documentElement, ...document.querySelectorAll("main, .turn, .top")].every((box) => box.scrollWidth <= box.clientWidth)',
      );
      expect([width, fits]).toEqual([width, true]);
    }
    await own.context().close();
  });

  it('[D08] is read from the database by parley why when no gateway is running', async () => {
    await scene.parley.end();
    const { code, out } = await why('last');
    expect(code).toBe(0);
    expect(out).toContain('Answered.');
    await scene.startAgain();
  });
});
