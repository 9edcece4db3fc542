import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDueToday } from '@parley/core/testing';
import { startTelegramDouble, type TelegramDouble } from '@parley/simulators/telegram';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { openChromium } from '../services/open-chromium.ts';
import { fetchChannelStates } from './channel-states.ts';
import { startParleyInProcess, type TestParley } from './parley-here.ts';
import {
  type DataFolder,
  makeDataFolder,
  runCommand,
  startParleyProcess,
} from './parley-process.ts';
import { openView } from './web-scene.ts';

const chromiumUrl = inject('chromiumUrl');
const [ANN, EVE, MAL, GROUP] = [501, 999, 998, -5];
/** The limit is generous because a busy machine is slow. */
const TIMEOUT = { timeout: 30_000 };
const FAULTS = `axe.run().then(({ violations }) =>
  violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ' ' + html.slice(0, 120))))`;

const settingsOf = (apiRoot: string) => `# Mine.
owners: [ "telegram:${ANN}" ]   # me
model: offline
http: { port: 0 }
channels:
  telegram:
    token: \${file:./bot.token}   # from @BotFather
    apiRoot: ${apiRoot}
    pace: false
    access:
      # direct: open
      groups: allowlist
`;

let telegram: TelegramDouble;
let folder: DataFolder;
let parley: TestParley;
beforeAll(async () => {
  telegram = await startTelegramDouble();
  folder = makeDataFolder({});
  writeFileSync(join(folder.path, 'bot.token'), telegram.token, { mode: 0o600 });
  writeFileSync(join(folder.path, 'parley.yaml'), settingsOf(telegram.apiRoot));
  parley = await startParleyInProcess(folder.path);
});
afterAll(async () => {
  await parley?.discard();
  await telegram?.close();
  folder?.remove();
});

const command = (...args: string[]) => runCommand(['--data', folder.path, 'channels', ...args]);
const stateOf = async () =>
  (await fetchChannelStates(parley)).find(({ channel }) => channel === 'telegram')?.kind;
const settings = () => readFileSync(join(folder.path, 'parley.yaml'), 'utf8');
const answers = (chat: number) =>
  telegram
    .conversation(chat)
    .filter(({ from }) => from === 'bot')
    .map(({ text }) => text);

describe('the channels', () => {
  it('[U03] report that no chat can receive a test message yet, and then send a test message to the owner', async () => {
    await expect.poll(stateOf, TIMEOUT).toBe('connected');
    const none = await command('test', 'telegram');
    expect(none).toMatchObject({ code: 1, out: expect.stringContaining('No owner has written') });
    telegram.say({ chat: ANN, text: 'hello' });
    await expect.poll(() => answers(ANN).length, TIMEOUT).toBe(1);
    expect(await command('test', 'telegram')).toMatchObject({
      code: 0,
      out: expect.stringContaining('test message arrived'),
    });
    expect(answers(ANN).at(-1)).toContain('This is a test message');
    expect(await command('test', 'telegrom')).toMatchObject({
      code: 1,
      out: expect.stringContaining('the account telegrom/default'),
    });
  });

  it('[U03] keep a paused account disconnected across a kill, and receive the waiting messages afterwards', async () => {
    // A normal run kills Parley every third day; on other days it is shut down gracefully.
    if (isDueToday(2, 3)) {
      await parley.end();
      parley = await startParleyProcess(folder.path);
    }
    await expect.poll(stateOf, TIMEOUT).toBe('connected');
    expect((await command('pause', 'telegram')).out).toContain('paused by the command line');
    expect(await stateOf()).toBe('paused');
    const answered = answers(ANN).length;
    await parley.discard();
    expect((await command()).out).toMatch(/telegram\/default .*paused by the command line/);
    parley = await startParleyInProcess(folder.path);
    expect(await stateOf()).toBe('paused');
    const calls = telegram.calls().length;
    telegram.say({ chat: ANN, text: 'are you there?' });
    expect(await command('reconnect', 'telegram')).toMatchObject({
      code: 1,
      out: expect.stringContaining('Resume it first'),
    });
    expect(telegram.calls().length).toBe(calls);
    expect(answers(ANN)).toHaveLength(answered);
    expect((await command('resume', 'telegram')).code).toBe(0);
    await expect.poll(() => answers(ANN).length, TIMEOUT).toBe(answered + 1);
    expect(await command('pause', 'web')).toMatchObject({
      code: 1,
      out: expect.stringContaining('cannot be paused'),
    });
  });

  it('[U03] reconnect on request', async () => {
    const connections = () => telegram.calls('getMe').length;
    const before = connections();
    expect((await command('reconnect', 'telegram')).code).toBe(0);
    await expect.poll(connections, TIMEOUT).toBe(before + 1);
    await expect.poll(stateOf, TIMEOUT).toBe('connected');
  });

  it.runIf(chromiumUrl)(
    '[U03] [F05] admit people and groups with one press, by keyboard and on a phone, and keep the settings',
    async () => {
      telegram.say({ chat: EVE, text: 'let me in' });
      telegram.say({ chat: MAL, text: 'me too' });
      telegram.say({ chat: GROUP, from: EVE, text: 'hello @parley_test_bot' });
      const browser = await openChromium(chromiumUrl ?? '');
      const page = await openPage(browser, 1280);
      const badge = page.locator('nav.rail .badge');
      await expect.poll(() => badge.innerText(), TIMEOUT).toMatch(/^2/);
      await openView(page, 'Channels');
      await fits(page);
      const applicants = page.getByRole('region', { name: 'People waiting for approval' });
      await applicants
        .getByRole('button', { name: /^Let in/ })
        .first()
        .focus();
      await page.keyboard.press('Enter');
      await page.getByRole('status').filter({ hasText: 'has access now' }).waitFor();
      await expect.poll(() => badge.innerText(), TIMEOUT).toMatch(/^1/);
      await expect.poll(() => answers(EVE).at(-1), TIMEOUT).toContain('You have access now');
      await page.context().close();

      const phone = await openPage(browser, 360);
      await openView(phone, 'Channels');
      await fits(phone);
      await phone.getByRole('button', { name: /^Refuse/ }).click();
      await phone.getByRole('status').filter({ hasText: 'gets no access' }).waitFor();
      await applicantsOf(phone).waitFor({ state: 'detached' });
      expect(answers(MAL)).toHaveLength(1);
      await phone.getByRole('button', { name: 'Allow: Group 5' }).click();
      await phone.getByRole('status').filter({ hasText: 'Group 5 is allowed' }).waitFor();
      await phone.getByText('1 group allowed').waitFor();
      await phone.context().close();
      await browser.close();

      const before = settingsOf(telegram.apiRoot);
      expect(settings()).toBe(`${before}      allowGroups:\n        - "-5" # Group 5\n`);
      const [copy] = readdirSync(folder.path).filter((name) => name.includes('.before-'));
      expect(readFileSync(join(folder.path, copy ?? ''), 'utf8')).toBe(before);
      telegram.say({ chat: GROUP, from: EVE, text: 'and now, @parley_test_bot?' });
      await expect.poll(() => answers(GROUP).length, TIMEOUT).toBe(1);
    },
    120_000,
  );

  it('[F05] are listed as JSON for programs', async () => {
    const { out } = await command('--json');
    expect(JSON.parse(out)).toMatchObject({
      accounts: expect.arrayContaining([
        expect.objectContaining({ channel: 'telegram', account: 'default', canPause: true }),
      ]),
      waiting: [],
      groups: [],
    });
    expect(out).not.toContain(telegram.token);
  });
});

const applicantsOf = (page: Page) =>
  page.getByRole('region', { name: 'People waiting for approval' });

async function openPage(browser: Browser, width: number): Promise<Page> {
  const context = await browser.newContext({ viewport: { width, height: 740 } });
  const page = await context.newPage();
  page.setDefaultTimeout(TIMEOUT.timeout);
  await page.goto(`${parley.address}/#token=${parley.token}`);
  await page.getByText('Connected', { exact: true }).first().waitFor();
  return page;
}

/** No element is wider than the window, and axe reports no violation. */
async function fits(page: Page): Promise<void> {
  await applicantsOf(page).waitFor();
  await page.evaluate(axe.source);
  expect(await page.evaluate(FAULTS)).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
}
