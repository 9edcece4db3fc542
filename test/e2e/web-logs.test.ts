import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { startTelegramDouble, type TelegramDouble } from '@parley/simulators/telegram';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { findPageFaults } from './page-faults.ts';
import { runCommand } from './parley-process.ts';
import { openView, sendMessage, startWebScene, untilAnswer, type WebScene } from './web-scene.ts';

const chromiumUrl = inject('chromiumUrl');
const ANN = 50_133_487;

/**
 * Secrets and private text that a support bundle must not contain, in settings, messages, files,
 * names and log lines.
 */
const CANARIES = {
  secret: 'kestrel-Secret-77aQ',
  text: 'plover wades at dusk',
  name: 'Wren Halcyon',
  file: 'sandpiper ledger',
  task: 'nightjar errand',
} as const;

describe.runIf(chromiumUrl)('logs on the web page', () => {
  let scene: WebScene;
  let telegram: TelegramDouble;
  let page: Page;
  beforeAll(async () => {
    telegram = await startTelegramDouble();
    const { token, apiRoot } = telegram;
    scene = await startWebScene(chromiumUrl ?? '', {
      owners: [`telegram:${ANN}`],
      identity: { name: CANARIES.name },
      channels: { telegram: { token, apiRoot } },
      log: { level: 'debug' },
    });
    telegram.say({ chat: ANN, text: CANARIES.text, from: { id: ANN, first_name: CANARIES.name } });
    page = await scene.open({ viewport: { width: 1280, height: 860 } });
    await sendMessage(page, `${CANARIES.text} ${CANARIES.secret}`);
    await untilAnswer(page, CANARIES.text);
    writeFileSync(join(scene.folder.path, 'workspace/MEMORY.md'), CANARIES.file);
    writeFileSync(join(scene.folder.path, `workspace/${CANARIES.file}.md`), CANARIES.file);
    writeFileSync(join(scene.folder.path, 'workspace/HEARTBEAT.md'), `- [ ] ${CANARIES.task}`);
    planted();
  });
  afterAll(async () => {
    await scene.close();
    await telegram.close();
  });

  const logs = () => join(scene.folder.path, 'logs');
  const file = () => join(logs(), String(readdirSync(logs())[0]));
  const lines = (on = page) =>
    on.getByRole('list', { name: 'Lines, newest first' }).locator('> li');
  const line = (text: string | RegExp) => lines().filter({ hasText: text });

  /**
   * Lines of another process, as careless code could write them, with canaries in every field and a
   * malformed line.
   */
  function planted(): void {
    const words = Object.values(CANARIES);
    const carelessly = words.flatMap((word, nth) => [
      { msg: word, [word]: nth },
      { msg: 'careless', reason: word, deep: [{ [word]: [word] }], time_: word },
      {
        msg: 'careless',
        error: { type: word, message: word, stack: `${word}\n    at ${word} (/${word}/a.ts:1:2)` },
      },
    ]);
    const worker = join(logs(), 'worker-elsewhere-7.log');
    for (const facts of carelessly) {
      const time = new Date().toISOString();
      appendFileSync(worker, `${JSON.stringify({ time, level: 'warn', ...facts })}\n`);
    }
    appendFileSync(worker, '{"time":"2026-');
  }

  it('[U03] keep the lines of a process in a file that only its user can read', async () => {
    await expect
      .poll(() => readFileSync(file(), 'utf8'), { timeout: 20_000 })
      .toMatch(/"conversation":"telegram.*"msg":"turn"/);
    expect(statSync(logs()).mode & 0o777).toBe(0o700);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
  });

  it('[U03] show lines with the name of their conversation, which links to the chat and to Why', async () => {
    await openView(page, 'Logs');
    const turn = line('outcome=answered').filter({ hasText: CANARIES.name });
    await turn.first().waitFor();
    const links = turn.first().getByRole('link');
    expect(await links.allInnerTexts()).toEqual([CANARIES.name, 'Why']);
    expect(await links.first().getAttribute('href')).toMatch(/^#\/conversations\/telegram/);
    await links.last().click();
    await page.getByRole('heading', { name: 'Why' }).waitFor();
    await page.getByText('answered').first().waitFor();
  });

  it('[U03] filter by level, channel, conversation and text, and follow new lines', async () => {
    await page.goto(`${scene.parley.address}/#/logs`);
    await lines().first().waitFor();
    expect(await page.locator('.log-lines .is-info').count()).toBeGreaterThan(0);
    await page.getByLabel('Level').selectOption('warn');
    await expect.poll(() => page.evaluate('location.hash')).toContain('/logs/warn/');
    await expect.poll(() => page.locator('.log-lines .is-info').count()).toBe(0);
    await page.goto(`${scene.parley.address}/#/logs/info/telegram`);
    await line('state=connected').first().waitFor();
    await expect.poll(() => line('channel=web').count()).toBe(0);
    await page.getByRole('searchbox', { name: 'Text' }).fill('OUTCOME":"answered');
    await page.keyboard.press('Enter');
    await expect.poll(() => lines().count()).toBe(1);
    telegram.say({ chat: ANN, text: 'another one' });
    await expect.poll(() => lines().count(), { timeout: 20_000 }).toBe(2);
    await page.goto(`${scene.parley.address}/#/logs/info/-/telegram:nothing`);
    await page.getByText('No matching lines.').waitFor();
  });

  it('[U03] are printed by parley logs, with or without a running gateway', async () => {
    const asked = ['logs', '--data', scene.folder.path, '--channel', 'telegram', '--json'];
    const { code, out } = await runCommand(asked);
    expect(code).toBe(0);
    const printed = out
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text));
    expect(printed.filter(({ msg }) => msg === 'turn')).toHaveLength(2);
    expect(printed.map(({ process }) => process)).not.toContain('worker-elsewhere-7');
    const careless = await runCommand([
      ...asked.slice(0, 3),
      '--level',
      'warn',
      '--text',
      'careless',
    ]);
    expect(careless.out.trim().split('\n')[0]).toMatch(
      /warn {2}careless process=worker-elsewhere-7/,
    );
  });

  it('[U03] offer a support bundle without secrets, names and message text, and show all of it before it is saved', async () => {
    await page.goto(`${scene.parley.address}/#/logs`);
    await page.getByRole('button', { name: 'Prepare a bundle' }).click();
    const files = page.getByRole('region', { name: 'Report a bug' }).locator('details');
    await expect.poll(() => files.count(), { timeout: 30_000 }).toBe(8);
    const shown = await files.locator('pre').allTextContents();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save the bundle' }).click();
    const saved = await download;
    expect(saved.suggestedFilename()).toMatch(/^parley-report-[\d-]+\.tar\.gz$/);
    const copy = join(scene.folder.path, 'saved.tar.gz');
    await saved.saveAs(copy);
    const bundle = gunzipSync(readFileSync(copy)).toString();
    for (const text of shown) expect(bundle).toContain(text);
    const out = join(scene.folder.path, 'bundle.tar.gz');
    const { code } = await runCommand(['report', '--data', scene.folder.path, '--out', out]);
    expect([code, statSync(out).mode & 0o777]).toEqual([0, 0o600]);
    for (const text of [bundle, gunzipSync(readFileSync(out)).toString()]) {
      // The bundle includes the information that a maintainer needs.
      for (const known of [
        '"level":"info"',
        '"msg":"turn"',
        '"outcome":"answered"',
        '"kind": "current"',
      ])
        expect(text).toContain(known);
      const canaries = [
        ...Object.values(CANARIES),
        telegram.token,
        scene.parley.token,
        scene.folder.path,
      ];
      expect(
        canaries.flatMap((word) => formsOf(word).filter((form) => text.includes(form))),
      ).toEqual([]);
      expect(text).not.toContain(String(ANN));
    }
  });

  it.each([
    [320, 'light'],
    [1280, 'dark'],
  ] as const)(
    '[U03] work by keyboard at %i pixels without axe violations',
    async (width, colorScheme) => {
      const other = await scene.open({ colorScheme, viewport: { width, height: 740 } });
      await other.goto(`${scene.parley.address}/#/logs`);
      await lines(other).first().waitFor();
      const reached = async (name: string): Promise<void> => {
        const focused = 'document.activeElement.ariaLabel ?? document.activeElement.textContent';
        for (let tabs = 0; tabs < 12; tabs += 1) {
          await other.keyboard.press('Tab');
          if ((await other.evaluate(focused)) === name) return;
        }
        throw new Error(`The key Tab does not reach ${name}.`);
      };
      await other.getByRole('button', { name: 'Refresh' }).focus();
      await reached('Text');
      await other.keyboard.type('careless');
      await other.keyboard.press('Enter');
      await expect.poll(() => lines(other).count()).toBe(10);
      const bundle = other.getByRole('button', { name: 'Prepare a bundle' });
      await bundle.focus();
      await other.keyboard.press('Enter');
      await other.locator('details summary').first().waitFor({ timeout: 30_000 });
      await other.locator('details summary').last().focus();
      await other.keyboard.press('Enter');
      expect(await findPageFaults(other)).toEqual([]);
      await other.context().close();
    },
    120_000,
  );
});

/** The ways in which a file may encode text. */
function formsOf(text: string): string[] {
  const bytes = Buffer.from(text);
  const base64 = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .slice(shift + 1, -4),
  );
  return [text, text.toLowerCase(), encodeURIComponent(text), bytes.toString('hex'), ...base64];
}
