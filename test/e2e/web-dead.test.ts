import { startTelegramDouble, type TelegramDouble } from '@parley/simulators/telegram';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { POOR_CONTRAST } from './poor-contrast.ts';
import { LOOKS, openView, resizePage, startWebScene, type WebScene } from './web-scene.ts';

const chromiumUrl = inject('chromiumUrl');
const ANN = 501;
const BO = 502;
const CLEO = 503;
/** The page refreshes after a fifth of a second instead of five seconds. */
const HURRIED =
  'const wait = setTimeout; setTimeout = (call, ms, ...more) => wait(call, ms === 5000 ? 200 : ms, ...more); 0';
/** Hostile text that tries to inject markup into the page. */
const HOSTILE = '<img src=x onerror="document.title=1">';

describe.runIf(chromiumUrl)('dead letters and the queue on the web page', () => {
  let scene: WebScene;
  let telegram: TelegramDouble;
  let page: Page;
  beforeAll(async () => {
    telegram = await startTelegramDouble();
    const { token, apiRoot } = telegram;
    const access = { direct: 'allowlist', allow: [BO, CLEO] };
    scene = await startWebScene(chromiumUrl ?? '', {
      owners: [`telegram:${ANN}`],
      channels: { telegram: { token, apiRoot, access } },
    });
    page = await scene.open({ viewport: { width: 1280, height: 860 } });
    await page.evaluate(HURRIED);
    await openView(page, 'Queue');
    await page.getByText('No failed messages.').waitFor();
  });
  afterAll(async () => {
    await scene.close();
    await telegram.close();
  });

  const dead = () => page.getByRole('region', { name: 'Dead letters' });
  const card = (name: RegExp) => dead().getByRole('article', { name });
  const press = (name: string | RegExp) =>
    page.getByRole('button', { name, exact: true }).first().click();
  const told = (words: string) => dead().getByRole('status').filter({ hasText: words }).waitFor();
  const answers = (chat: number) =>
    telegram.conversation(chat).flatMap(({ from, text }) => (from === 'bot' ? [text] : []));
  const open = () => dead().getByRole('article').count();

  it('[D06] [U03] show which parts were given up and why, as plain text', async () => {
    telegram.fault({
      kind: 'refuse',
      code: 403,
      description: 'Forbidden: bot was blocked by the user',
      method: 'sendMessage',
      chat: BO,
    });
    telegram.say({ chat: BO, text: `hello ${HOSTILE}` });
    await card(/Not delivered telegram:502/).waitFor();
    telegram.fault({ kind: 'reset', method: 'sendMessage', chat: ANN, after: true });
    telegram.say({ chat: ANN, text: 'perhaps' });
    await card(/Perhaps delivered telegram:501/).waitFor();
    scene.model.fault({ kind: 'status', status: 401 });
    telegram.say({ chat: CLEO, text: `a question that has no answer. ${'really '.repeat(80)}` });
    await card(/Not answered telegram:503/).waitFor();
    const text = await card(/Not delivered/).innerText();
    expect(text).toContain('bot was blocked by the user');
    expect(text).toContain(HOSTILE);
    expect(await page.title()).not.toBe('1');
    await expect
      .poll(() => dead().innerText())
      .toContain('1 not delivered, 1 perhaps, 1 not answered.');
    const long = card(/Not answered/);
    await long.getByRole('button', { name: 'Show all' }).click();
    await expect.poll(() => long.innerText()).toContain('really '.repeat(79));
  });

  it('[U03] show waiting messages, running turns and unsent parts', async () => {
    const answered = Promise.withResolvers<void>();
    scene.model.reply(async () => {
      await answered.promise;
      return 'done';
    });
    telegram.say({ chat: ANN, text: 'slow one' });
    await expect
      .poll(() => page.getByRole('region', { name: 'Running turns' }).innerText())
      .toMatch(/telegram:.*501/);
    await page.getByText('by this process').waitFor();
    telegram.say({ chat: ANN, text: 'the next one' });
    const waiting = page.getByRole('region', { name: 'Waiting messages' });
    await expect.poll(() => waiting.innerText()).toContain('1 message');
    answered.resolve();
    await expect.poll(() => waiting.innerText()).toContain('None.');
    await page.getByText('Nothing to send.').waitFor();
    scene.model.reply(() => 'An answer at last.');
  });

  it('[D06] [U03] send a part again with one press, and ask first if that may send a duplicate', async () => {
    await press(/^Send again: \d+$/);
    await page.getByText('It may have arrived already, so it could arrive twice.').waitFor();
    await press('Cancel');
    expect(await open()).toBe(3);
    await card(/Not delivered/)
      .getByRole('button', { name: /^Send again/ })
      .click();
    await told('It is being sent again.');
    await telegram.waitFor(() => answers(BO).some((text) => text.includes('hello')));
    await expect.poll(open).toBe(2);
  });

  it('[D06] [U03] work by keyboard only', async () => {
    await card(/Perhaps delivered/)
      .getByRole('button', { name: /^Send again/ })
      .focus();
    await page.keyboard.press('Enter');
    const leave = page.getByRole('button', { name: 'Cancel' });
    const isOnLeave = () => leave.evaluate((it) => it.matches(':focus'));
    await expect.poll(isOnLeave).toBe(true);
    await page.keyboard.press('Escape');
    await expect
      .poll(() => page.evaluate('document.activeElement.ariaLabel'))
      .toMatch(/^Send again/);
    await page.keyboard.press('Enter');
    await expect.poll(isOnLeave).toBe(true);
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await told('It is being sent again.');
    const sent = () => answers(ANN).filter((text) => text === 'You said: perhaps').length;
    await telegram.waitFor(() => sent() === 2);
  });

  it('[D06] [U03] retry a message that has no answer, and drop one permanently on request', async () => {
    await card(/Not answered/)
      .getByRole('button', { name: /^Ask again/ })
      .click();
    await telegram.waitFor(() => answers(CLEO).includes('An answer at last.'));
    await page.getByText('No failed messages.').waitFor();
    scene.model.fault({ kind: 'status', status: 401 }, 2);
    telegram.say({ chat: CLEO, text: 'once more' });
    await card(/Not answered/).waitFor();
    telegram.say({ chat: BO, text: 'me, too' });
    await expect.poll(open).toBe(2);
    await press('Drop all');
    await page.getByText('This discards 2 dead letters.').waitFor();
    await press('Drop 2');
    await told('2 are dropped.');
    await page.getByText('No failed messages.').waitFor();
  });

  it('[U03] report that the gateway does not answer', async () => {
    await page.route('**/api/dead/**', (route) => route.abort());
    await press('Refresh');
    await dead().getByRole('alert').filter({ hasText: 'does not answer' }).waitFor();
    await page.unroute('**/api/dead/**');
    await press('Refresh');
    await page.getByText('No failed messages.').waitFor();
  });

  it('[U03] ask for a reload when a response is unexpected, while the rest of the page keeps working', async () => {
    await page.route('**/api/audit/report', (route) =>
      route.fulfill({ json: { findings: 'none' } }),
    );
    await openView(page, 'Audit');
    await page.getByRole('alert').filter({ hasText: 'Reload the page' }).waitFor();
    await page.unroute('**/api/audit/report');
    await openView(page, 'Queue');
    await page.getByText('No failed messages.').waitFor();
  });

  it('[U03] cannot be seen or resolved without the token, or from another site', async () => {
    const ask = (headers: Record<string, string>, method = 'POST') =>
      fetch(`${scene.parley.address}/api/dead/${method === 'POST' ? 'settle' : 'list'}`, {
        method,
        headers,
        ...(method === 'POST' && { body: '{"action":"drop","letters":[1]}' }),
      });
    const signedIn = { authorization: `Bearer ${scene.parley.token}` };
    expect((await ask({})).status).toBe(401);
    expect((await ask({}, 'GET')).status).toBe(401);
    expect((await fetch(`${scene.parley.address}/api/queue/report`)).status).toBe(401);
    expect((await ask({ ...signedIn, origin: 'https://evil.example' })).status).toBe(403);
    expect((await ask(signedIn)).status).toBe(200);
  });

  it('[U05] list security warnings with advice on a separate page', async () => {
    const own = await scene.open();
    await openView(own, 'Audit');
    const finding = own.getByRole('article', { name: 'Warning: files.secrets-in-clear' });
    await finding.waitFor();
    const text = await finding.innerText();
    expect(text).toContain('channels.telegram.token (line');
    expect(text).toContain('environment variable');
    await expect
      .poll(() => own.getByRole('status').allInnerTexts())
      .toContainEqual(expect.stringMatching(/^\d+ critical, \d+ warnings?, \d+ notes?\.$/));
    expect(await own.getByRole('main').innerText()).not.toContain(telegram.token);
    await own.context().close();
  });

  it('[U03] are readable in light and dark, and fit a phone', async () => {
    scene.model.fault({ kind: 'status', status: 401 });
    telegram.say({ chat: CLEO, text: 'x'.repeat(400) });
    const own = await scene.open();
    const looksWell = async () => {
      for (const [colorScheme, width] of LOOKS) {
        await resizePage(own, colorScheme, width);
        expect(await own.evaluate(POOR_CONTRAST)).toEqual([]);
        const fits = await own.evaluate(
          '[document.documentElement, ...document.querySelectorAll("main, .letter, .top")].every((box) => box.scrollWidth <= box.clientWidth)',
        );
        expect([width, fits]).toEqual([width, true]);
      }
    };
    await own.goto(`${scene.parley.address}/#/queue`);
    await own.getByRole('article').first().waitFor();
    await own
      .getByRole('button', { name: /^Drop: / })
      .first()
      .click();
    await looksWell();
    await openView(own, 'Audit');
    await own.getByRole('article').first().waitFor();
    await looksWell();
    await own.context().close();
  });
});
