import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDueToday } from '@parley/core/testing';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { getMessageText } from '../model/chat-request.ts';
import { NOTE } from './approval-scene.ts';
import { findPageFaults } from './page-faults.ts';
import { runCommand } from './parley-process.ts';
import { POOR_CONTRAST } from './poor-contrast.ts';
import {
  answers,
  field,
  sendMessage,
  startWebScene,
  untilAnswer,
  type WebScene,
} from './web-scene.ts';

const chromiumUrl = inject('chromiumUrl');
const FILE = 'notes/birds.md';
const LONG = `${'parrot '.repeat(900)}; cat MEMORY.md${'\u3164'.repeat(400)}; rm x${'parrot'.repeat(900)}`;

describe.runIf(chromiumUrl)('approvals on the web page', () => {
  let scene: WebScene;
  /** Each test uses a separate chat. */
  let chat: string;
  beforeAll(async () => {
    scene = await startWebScene(chromiumUrl ?? '', { approvals: { ask: ['write'] } });
    scene.model.reply(({ messages }) => {
      const last = messages.at(-1);
      if (last?.role === 'tool') return `It said: ${getMessageText(last)}`;
      const question = getMessageText(last).split('\n').at(-1) ?? '';
      if (!question.includes('note it')) return `You said: ${question}`;
      const text = question.includes('at length') ? LONG : 'Parrots talk.';
      return { toolCalls: [{ name: 'write', arguments: { path: FILE, text } }] };
    });
  });
  beforeEach(() => {
    chat = randomUUID().replaceAll('-', '');
  });
  afterEach(async () => {
    rmSync(join(scene.folder.path, 'workspace', FILE), { force: true });
    await Promise.all(scene.browser.contexts().map((context) => context.close()));
  });
  afterAll(() => scene.close());

  const open = async (options: BrowserContextOptions = {}): Promise<Page> => {
    const page = await scene.open(options);
    await page.goto(`${scene.parley.address}/#/chat/${chat}`);
    await page.getByRole('heading', { name: /Say hello to/ }).waitFor();
    return page;
  };

  const noted = () => {
    const path = join(scene.folder.path, 'workspace', FILE);
    return existsSync(path) ? readFileSync(path, 'utf8') : null;
  };
  const button = (page: Page, name: string) =>
    page.getByRole('log').getByRole('button', { name, exact: true });
  const askedAgain = () =>
    scene.model.requests.filter(({ body }) => body.messages.at(-1)?.role === 'tool');
  const told = async (page: Page, words: string) =>
    (await answers(page)).filter((text) => text.includes(words));

  it('[G05] a button pressed in two tabs after a kill -9 runs the call once', async () => {
    // A normal run kills Parley every third day; on other days it is shut down gracefully.
    const parley = isDueToday(1, 3) ? await scene.startApart() : scene.parley;
    const page = await open();
    await sendMessage(page, 'please note it');
    await button(page, 'Approve').waitFor();
    await parley.discard();
    await scene.startAgain();
    await page.getByText('Connected', { exact: true }).waitFor();
    const other = await page.context().newPage();
    await other.goto(`${scene.parley.address}/#/chat/${chat}`);
    await button(other, 'Deny').waitFor();
    expect(noted()).toBeNull();
    // The first press removes the button, so the second tab may not find it.
    for (const press of [button(page, 'Approve').dblclick(), button(other, 'Approve').click()])
      press.catch(() => undefined);
    for (const each of [page, other]) {
      await untilAnswer(each, 'It said: ');
      await expect.poll(() => button(each, 'Approve').count()).toBe(0);
      await each.getByText('You chose Approve.').waitFor();
    }
    expect(noted()).toBe(NOTE);
    expect(askedAgain()).toHaveLength(1);
    expect(await told(page, 'Allowed: write')).toHaveLength(1);
    await page.reload();
    await page.getByText('You chose Approve.').waitFor();
    await expect.poll(() => button(page, 'Approve').count()).toBe(0);
    const record = await runCommand(['--data', scene.folder.path, 'approvals']);
    expect(record.out).toMatch(/write for web:owner .*: allowed by web:owner .*; the call worked/);
  });

  it('[G05] [U03] the chat shows the change of the file, as Approvals does, until the request is decided', async () => {
    mkdirSync(join(scene.folder.path, 'workspace/notes'), { recursive: true });
    writeFileSync(join(scene.folder.path, 'workspace', FILE), 'Cats sleep.\n');
    const page = await open();
    await sendMessage(page, 'please note it');
    const asked = page.locator('.is-asked');
    await asked.locator('del').getByText('Cats sleep.').waitFor();
    const change = await asked.locator('.diff').innerText();
    expect(change).toContain('+Parrots talk.');
    // The file name stays above the change even while the call is collapsed.
    await asked.getByText(`path: "${FILE}"`).first().waitFor();
    const { SHOTS } = process.env;
    if (SHOTS) await page.screenshot({ path: join(SHOTS, 'change.png') });
    expect(await findPageFaults(page)).toEqual([]);
    const other = await page.context().newPage();
    await other.goto(`${scene.parley.address}/#/approvals`);
    const card = other.getByRole('article', { name: /^write for/ });
    expect(await card.locator('.diff').innerText()).toBe(change);
    await card.getByRole('button', { name: 'Refuse' }).click();
    await untilAnswer(page, 'Refused: write.');
    await expect.poll(() => asked.count()).toBe(0);
  });

  it('[G05] work by keyboard only without losing the focus, and a refusal is reported to the model', async () => {
    const page = await open();
    await sendMessage(page, 'please note it');
    await button(page, 'Deny').waitFor();
    await page.getByRole('group', { name: 'Your choice' }).waitFor();
    await button(page, 'Approve').focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await untilAnswer(page, 'It said: write was not run');
    expect(await field(page).evaluate((it) => it === it.ownerDocument.activeElement)).toBe(true);
    expect(noted()).toBeNull();
  });

  it('[G05] are sent once when the gateway is back after an outage', async () => {
    const page = await open();
    await sendMessage(page, 'please note it');
    await button(page, 'Approve').waitFor();
    await scene.parley.end();
    await button(page, 'Approve').click();
    await page.getByText('You chose Approve.').waitFor();
    await page.getByText('Not sent yet, trying again…').waitFor();
    await scene.startAgain();
    await untilAnswer(page, 'It said: ');
    expect(noted()).toBe(NOTE);
    expect(await told(page, 'already decided')).toEqual([]);
  });

  it('[G05] show a long call to its last character within the page', async () => {
    const page = await open({ viewport: { width: 360, height: 740 } });
    await sendMessage(page, 'please note it at length');
    await button(page, 'Approve').waitFor();
    const call = page.locator('.is-notice pre').last();
    const shown = (await call.innerText()).replaceAll('\n+', '');
    expect(shown).toContain('; cat MEMORY.md\\u{3164*400}; rm x');
    expect(shown.match(/parrot/g)).toHaveLength(1_800);
    const isCut = 'document.querySelector(".is-notice pre").parentElement';
    expect(await page.evaluate(`${isCut}.scrollWidth <= ${isCut}.clientWidth`)).toBe(true);
  });

  it('[G04] [G05] run a plan once through its own button, and not through /mode', async () => {
    const page = await open();
    await sendMessage(page, '/mode plan');
    await untilAnswer(page, /plan mode: I look/);
    await sendMessage(page, 'tidy up');
    await button(page, 'Run the plan').waitFor();
    await sendMessage(page, '/mode agent');
    await untilAnswer(page, /agent mode: I use/);
    await expect.poll(() => button(page, 'Run the plan').count()).toBe(1);
    await button(page, 'Run the plan').dblclick();
    await untilAnswer(page, 'You said: Yes, run the plan.');
    await page.getByText('You chose Run the plan.').waitFor();
    await page.reload();
    await page.getByText('You chose Run the plan.').waitFor();
    // The agent's last answer was not a plan, so it has no button.
    await expect.poll(() => button(page, 'Run the plan').count()).toBe(0);
    await sendMessage(page, '/run');
    await untilAnswer(page, 'That plan has been run.');
    const runs = scene.model.requests.filter(({ body }) =>
      getMessageText(body.messages.at(-1)).endsWith('Yes, run the plan.'),
    );
    expect(runs).toHaveLength(1);
  });

  it('[G05] [U03] are readable in light and dark, and fit a phone', async () => {
    const page = await open({ viewport: { width: 360, height: 740 } });
    const { SHOTS } = process.env;
    const isReadable = async (name: string) => {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await page.evaluate(POOR_CONTRAST)).toEqual([]);
        if (SHOTS) await page.screenshot({ path: join(SHOTS, `${name}-${colorScheme}.png`) });
      }
    };
    await sendMessage(page, 'please note it');
    await button(page, 'Approve').waitFor();
    await isReadable('choices');
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    for (const name of ['Approve', 'Deny']) {
      expect((await button(page, name).boundingBox())?.height).toBeGreaterThanOrEqual(40);
    }
    await button(page, 'Deny').click();
    await untilAnswer(page, 'It said: write was not run');
    await isReadable('chosen');
  }, 60_000);
});
