import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { getMessageText } from '../model/chat-request.ts';
import { findPageFaults } from './page-faults.ts';
import { openView, sendMessage, startWebScene, untilAnswer, type WebScene } from './web-scene.ts';

const chromiumUrl = inject('chromiumUrl');
const HOSTILE = 'Parrots talk <img src=x onerror="document.title=1">';

describe.runIf(chromiumUrl)('pending decisions on the web page', () => {
  let scene: WebScene;
  let chat: Page;
  let page: Page;
  beforeAll(async () => {
    scene = await startWebScene(chromiumUrl ?? '', {
      approvals: { ask: ['current_time'] },
    });
    scene.model.reply(({ messages }) => {
      const last = messages.at(-1);
      if (last?.role === 'tool') return `It said: ${getMessageText(last)}`;
      const question = getMessageText(last).split('\n').at(-1) ?? '';
      const [, path] = /^write (\S+)/.exec(question) ?? [];
      if (path !== undefined)
        return { toolCalls: [{ name: 'write', arguments: { path, text: HOSTILE } }] };
      const [, timeZone] = /^time in (\S+)/.exec(question) ?? [];
      if (timeZone !== undefined)
        return { toolCalls: [{ name: 'current_time', arguments: { timeZone } }] };
      return `You said: ${question}`;
    });
    writeFileSync(join(scene.folder.path, 'workspace/open.md'), 'Cats sleep.\n');
    chat = await scene.open();
    page = await scene.open({ viewport: { width: 320, height: 740 } });
    await openView(page, 'Approvals');
  });
  afterAll(() => scene.close());

  const onDisk = (name: string) => {
    const path = join(scene.folder.path, 'workspace', name);
    return existsSync(path) ? readFileSync(path, 'utf8') : null;
  };
  const section = (name: string) => page.getByRole('region', { name, exact: true });
  const question = () => section('Waiting for you').getByRole('article');
  const button = (name: string) => question().getByRole('button', { name });
  /** The page refreshes every few seconds, and immediately when its window gets the focus. */
  const see = (what: Locator) =>
    expect
      .poll(
        async () => {
          await page.evaluate("dispatchEvent(new Event('focus'))");
          return what.count();
        },
        { timeout: 30_000 },
      )
      .toBe(1);
  const shoot = async (name: string) => {
    const { SHOTS } = process.env;
    if (SHOTS) await page.screenshot({ path: join(SHOTS, `${name}.png`) });
  };

  it('[G05] [W09] show a request with its chat, text, change and complete call, and are counted by a badge', async () => {
    await sendMessage(chat, 'write open.md please');
    await see(question());
    const shown = await question().innerText();
    for (const part of ['write open.md please', 'whole_file:', HOSTILE]) {
      expect(shown).toContain(part);
    }
    expect(await question().locator('del').allInnerTexts()).toEqual(['-Cats sleep.\n']);
    expect(await question().locator('ins').innerText()).toContain(`+${HOSTILE}`);
    expect(await page.title()).not.toBe('1');
    await shoot('question');
    expect(await findPageFaults(page)).toEqual([]);
    await chat.evaluate("dispatchEvent(new Event('focus'))");
    await chat.getByRole('link', { name: 'Inbox 1 question waits' }).waitFor();
  });

  it('[G05] can be refused by keyboard, count only once, and show a later decision from the chat', async () => {
    await button('Refuse').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('Refused: write.').waitFor();
    await untilAnswer(chat, 'Refused: write.');
    await untilAnswer(chat, 'It said: write was not run');
    await chat.getByRole('log').getByRole('button', { name: 'Approve', exact: true }).click();
    await untilAnswer(chat, 'That was already decided: write was refused.');
    expect(onDisk('open.md')).toBe('Cats sleep.\n');
    const past = section('Decided');
    await past.getByText('refused by the owner, on the page').waitFor();
  });

  it('[G05] prevent further requests for a call that is always allowed, until that is revoked', async () => {
    const rule = 'current_time:Asia/Tokyo';
    await sendMessage(chat, 'time in Asia/Tokyo');
    await see(question());
    await button('Always allow').click();
    await question().getByText(`Calls like ${rule} will run without asking`).waitFor();
    await shoot('always');
    const focused = (name: string) => question().locator(':focus', { hasText: name }).waitFor();
    await focused('Cancel');
    await page.keyboard.press('Escape');
    await focused('Always allow');
    await page.keyboard.press('Enter');
    await focused('Cancel');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await page
      .getByRole('status')
      .getByText(`From now on, ${rule} does not need approval.`)
      .waitFor();
    await untilAnswer(chat, 'It said: It is');
    const settings = () => readFileSync(join(scene.folder.path, 'parley.yaml'), 'utf8');
    expect(settings()).toContain(rule);
    await section('Always allowed').getByText(rule).waitFor();
    const inUse = /the settings were read again/;
    await expect.poll(() => inUse.test(scene.parley.err()), { timeout: 30_000 }).toBe(true);
    await sendMessage(chat, 'time in Asia/Tokyo');
    await see(section('Decided').getByText('allowed by a rule'));
    await section('Always allowed')
      .getByRole('button', { name: `Revoke: ${rule}` })
      .click();
    await page.getByText('Nothing is always allowed; you are asked every time.').waitFor();
    expect(settings()).not.toContain(rule);
    expect(await findPageFaults(page)).toEqual([]);
  });

  it('[W09] keep a file written by the agent private until a person releases it in the version shown', async () => {
    for (const name of ['notes/one.md', 'notes/two.md']) {
      await sendMessage(chat, `write ${name}`);
      await untilAnswer(chat, `Made ${name}`);
    }
    const file = (name: string) =>
      section('Files written by the agent').getByRole('article', { name });
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByRole('button', { name: 'Refresh' }).click();
    const open = file('notes/one.md').getByRole('button', { name: 'Open: notes/one.md' });
    await open.waitFor();
    expect(await file('notes/one.md').innerText()).toContain('conversation with Owner');
    await file('notes/one.md').getByText(HOSTILE).waitFor();
    await shoot('files');
    expect(await findPageFaults(page)).toEqual([]);
    const path = join(scene.folder.path, 'workspace/notes/one.md');
    // The file changes just before the click, because the page refreshes every few seconds and
    // would otherwise show the change first.
    await page.route('**/api/approvals/settle-file', async (route) => {
      if (route.request().method() === 'POST')
        writeFileSync(path, `${onDisk('notes/one.md')}Added.\n`);
      await route.continue();
    });
    await open.click();
    await page.getByRole('button', { name: 'Open it' }).click();
    await page.getByText('notes/one.md has changed in the meantime.').waitFor();
    await page.unroute('**/api/approvals/settle-file');
    expect(onDisk('notes/one.md')).toContain('audience: owner');
    await file('notes/one.md').getByText('Added.').waitFor();
    await open.click();
    await page.getByRole('button', { name: 'Open it' }).click();
    await page.getByText('notes/one.md is readable by everyone').waitFor();
    expect(onDisk('notes/one.md')).toContain('---\naudience: everyone\n---');
    await page.getByRole('button', { name: 'Keep private: notes/two.md' }).click();
    await page.getByText('No files to review.').waitFor();
    expect(onDisk('notes/two.md')).toContain('---\naudience: owner\n---');
  });
});
