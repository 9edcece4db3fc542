import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { findPageFaults } from './page-faults.ts';
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
const DAY_MS = 24 * 60 * 60_000;
const EVE = 'telegram:<img src=x onerror="document.title=1">';

describe.runIf(chromiumUrl)('usage on the web page', () => {
  let scene: WebScene;
  let page: Page;
  beforeAll(async () => {
    scene = await startWebScene(chromiumUrl ?? '', {
      agent: { timeZone: 'UTC' },
      spend: { totalDaily: { tokens: 1_000_000 }, perPersonDaily: { tokens: 10, usd: 1 } },
    });
    page = await scene.open({ viewport: { width: 1280, height: 860 } });
    // The limit is not yet reached when this turn starts.
    await sendMessage(page, 'hello');
    await untilAnswer(page, 'You said: hello');
    fillDays(join(scene.folder.path, 'parley.db'));
  });
  afterAll(() => scene.close());

  /**
   * For four weeks before today, Ann has two turns a day and Eve one, on Telegram, for half a
   * dollar each.
   */
  function fillDays(path: string): void {
    const database = new DatabaseSync(path);
    database.exec("insert into conversation (id, created_at) values ('telegram:default:1', 0)");
    const insert = database.prepare(`
      insert into turn (id, conversation_id, session, state, attempts, model, input_tokens,
        output_tokens, cached_tokens, cost_usd, started_at, asked_at, finished_at, person_id)
      values (?, 'telegram:default:1', 0, ?, 1, 'large', 900, 100, 300, 0.5, ?, ?, ?, ?)`);
    for (let ago = 1; ago <= 28; ago += 1) {
      const at = Date.now() - ago * DAY_MS;
      for (const [nth, person] of ['telegram:ann', 'telegram:ann', EVE].entries()) {
        const state = ago === 3 && nth === 2 ? 'failed' : 'answered';
        insert.run(`turn_0${ago}${nth}`, state, at, at, at + 1_000 * (nth + 1), person);
      }
    }
    database.close();
  }
  const table = (on = page) => on.getByRole('group', { name: 'Usage' });
  const row = (name: string | RegExp) => table().getByRole('row', { name });
  const today = new Date().toISOString().slice(0, 10);

  it('[U07] is charted by tokens, money, turns and latency per day, above a table of the same values', async () => {
    await openView(page, 'Usage');
    await expect.poll(() => table().getByRole('row').count()).toBe(1 + 29 + 1);
    expect(await row(today).innerText()).toMatch(/\b1\b/);
    expect(await row('Total').innerText()).toMatch(/^Total\s+85\s+1\s/);
    const titles = await page
      .locator('figure')
      .getByText(/^(Tokens|Money|Turns|Latency)$/)
      .count();
    expect(titles).toBe(4);
    const heights = await page
      .locator('figure')
      .first()
      .locator('rect.bar-one')
      .evaluateAll((bars) => bars.map((bar) => Math.round(Number(bar.getAttribute('height')))));
    expect(heights).toHaveLength(30);
    // Of 3,000 tokens, 2,700 are input, and today's turn may be the highest bar; nothing was used
    // 29 days ago.
    const [first, second = 0, ...others] = heights.slice(0, 4);
    expect([first, ...others]).toEqual([0, second, second]);
    expect(second).toBeGreaterThan(75);
    expect(second).toBeLessThanOrEqual(90);
  });

  it('[U07] is grouped as selected, and the address keeps the selection, so that the browser can go back', async () => {
    await page.getByRole('link', { name: 'Person', exact: true }).click();
    await row('telegram:ann').waitFor();
    expect(new URL(page.url()).hash).toBe('#/usage/person/30');
    expect(await row('telegram:ann').innerText()).toMatch(
      /56\s+0\s+50,400\s+16,800\s+5,600\s+\$28/,
    );
    // The heaviest user comes first, and ids are shown as text.
    expect(await row(/onerror/).count()).toBe(1);
    expect(await page.title()).not.toBe('1');
    await page.getByRole('navigation', { name: 'Days' }).getByRole('link', { name: '7' }).click();
    await expect.poll(() => row('telegram:ann').innerText()).toMatch(/12\s+0/);
    await page.getByRole('link', { name: 'Earlier' }).click();
    await expect.poll(() => row('telegram:ann').innerText()).toMatch(/14\s+0/);
    expect(await page.getByRole('link', { name: 'Until today' }).count()).toBe(1);
    for (const name of ['Chat', 'Model', 'Channel', 'Agent']) {
      const by = page.getByRole('navigation', { name: 'Group by' });
      await by.getByRole('link', { name }).click();
      await table().getByRole('columnheader', { name, exact: true }).waitFor();
    }
    await page.goBack();
    await row('telegram').waitFor();
  });

  it('[U07] is shown beside the limits, including exhausted ones', async () => {
    await page.goto(`${scene.parley.address}/#/usage`);
    const caps = page.getByRole('region', { name: 'Today’s caps' });
    await caps.waitFor();
    const [everyone, person] = await caps.getByRole('article').allInnerTexts();
    expect(everyone).toMatch(/Everyone together spend\.totalDaily\s+[\d,]+ of 1,000,000 tokens/);
    expect(person).toMatch(/spend\.perPersonDaily\s+[\d,]+ of 10 tokens\s+unknown of \$1\.00/);
    expect(await caps.locator('.is-full').allInnerTexts()).toEqual([
      expect.stringContaining('of 10 tokens'),
    ]);
  });

  it('[U07] works by keyboard only', async () => {
    await page.goto(`${scene.parley.address}/#/usage/day/30`);
    await table().waitFor();
    await page.getByRole('button', { name: 'Refresh' }).focus();
    const reached = async (name: string) => {
      const focused = 'document.activeElement.ariaLabel ?? document.activeElement.textContent';
      for (let tabs = 0; tabs < 20; tabs += 1) {
        await page.keyboard.press('Tab');
        if ((await page.evaluate(focused)) === name) return;
      }
      throw new Error(`The key Tab does not reach ${name}.`);
    };
    await reached('Model');
    await page.keyboard.press('Enter');
    await row('large').waitFor();
    await reached('Usage');
  });

  it('[U07] lists the valid choices when an address contains an invalid choice', async () => {
    await page.goto(`${scene.parley.address}/#/usage/mood/9999`);
    await page
      .getByRole('alert')
      .filter({ hasText: 'days: it must be a number from 1 to 400' })
      .waitFor();
    await page.goto(`${scene.parley.address}/#/usage/person/1/1999-12-31`);
    await page.getByText('No usage in this period.').waitFor();
  });

  it('[U07] fits a phone, is readable in light and dark, and does not have axe violations', async () => {
    const other = await scene.open();
    for (const view of ['#/usage', '#/usage/person/90']) {
      await other.goto(`${scene.parley.address}/${view}`);
      for (const [colorScheme, width] of LOOKS) {
        await resizePage(other, colorScheme, width);
        await table(other).waitFor();
        expect([view, width, await findPageFaults(other)]).toEqual([view, width, []]);
      }
    }
    await other.context().close();
  }, 120_000);
});
