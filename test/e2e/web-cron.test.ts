import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { getMessageText } from '../model/chat-request.ts';
import { findPageFaults } from './page-faults.ts';
import { runCommand } from './parley-process.ts';
import { openView, sendMessage, startWebScene, untilAnswer, type WebScene } from './web-scene.ts';

const chromiumUrl = inject('chromiumUrl');

/** The text of a job that tries to inject markup into the page. */
const TASK = 'Water the plants <img src=x onerror="document.title=1">';

describe.runIf(chromiumUrl)('jobs on the web page', () => {
  let scene: WebScene;
  let page: Page;
  beforeAll(async () => {
    scene = await startWebScene(chromiumUrl ?? '');
    scene.model.reply(({ messages }) => {
      const last = messages.at(-1);
      if (getMessageText(last).includes('An event came from outside'))
        return 'The hall is <b>dark</b>.';
      if (getMessageText(last).includes('The time of the job')) return 'Water them now.';
      if (last?.role === 'tool') return 'It is planned.';
      const input = { action: 'add', title: 'plants', task: TASK, every: 'daily at 9:00' };
      return { toolCalls: [{ name: 'cron', arguments: input }] };
    });
    page = await scene.open({ viewport: { width: 320, height: 800 } });
    await sendMessage(page, 'remind me of the plants');
    await untilAnswer(page, 'It is planned.');
    await openView(page, 'Jobs');
  });
  afterAll(() => scene.close());

  const press = (name: string) => page.getByRole('button', { name: `${name}: plants` }).click();
  const job = (title: string) => page.getByRole('article', { name: title });
  const fill = (label: string, text: string) =>
    page.getByRole('textbox', { name: label, exact: true }).fill(text);

  it('[H08] [U03] show their next runs and their chat as plain text', async () => {
    await job('plants').getByText('cron 0 9 * * *').waitFor();
    const shown = await job('plants').innerText();
    for (const part of [TASK, 'Not run yet.', 'In Owner.']) expect(shown).toContain(part);
    expect(shown.match(/9:00 AM/g)?.length).toBeGreaterThan(2);
    expect(await page.title()).not.toBe('1');
  });

  it('[H08] [U03] are run, paused and resumed with buttons', async () => {
    await press('Run now');
    await openView(page, 'Chat');
    await untilAnswer(page, 'Water them now.');
    await openView(page, 'Jobs');
    await job('plants').getByText('Last run').waitFor();
    await press('Pause');
    await job('plants').getByText('; paused').waitFor();
    await press('Resume');
    await job('plants').getByText('; next').waitFor();
  });

  it('[H08] [U03] can be changed in every detail, and errors are shown beside the field', async () => {
    await press('Change');
    await page.getByRole('form', { name: 'plants' }).waitFor();
    expect(await page.getByRole('textbox', { name: 'Time', exact: true }).inputValue()).toBe(
      '0 9 * * *',
    );
    await page.getByRole('combobox', { name: 'When' }).selectOption('Repeats');
    await fill('Time', 'now and then');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').getByText('is not an interval').waitFor();
    const { SHOTS } = process.env;
    if (SHOTS) await page.screenshot({ path: `${SHOTS}/job-form.png`, fullPage: true });
    expect(await findPageFaults(page)).toEqual([]);
    await fill('Time', '2 h');
    await fill('Title', 'flowers');
    await fill('What should the agent do?', 'Water the flowers.');
    await page.getByRole('button', { name: 'Save' }).click();
    await job('flowers').getByText('every 2 hours').waitFor();
    await job('flowers').getByText('Water the flowers.').waitFor();
    await page.getByRole('button', { name: 'Change: flowers' }).click();
    await fill('Title', 'roses');
    await page.getByRole('button', { name: 'Save' }).click();
    await job('roses').getByText('every 2 hours').waitFor();
  });

  it('[H08] can also be changed by the command line, but not for an unknown chat', async () => {
    const id = (await job('roses').locator('header .hint').innerText()).trim();
    const change = (...more: string[]) =>
      runCommand(['--data', scene.folder.path, 'cron', 'change', id, ...more]);
    const { code, out } = await change('--to', 'nowhere');
    expect([code, out]).toEqual([1, expect.stringContaining('no group is called "nowhere"')]);
    expect((await change('--every', '3 h')).out).toContain('every 3 hours');
    expect((await change()).out).toContain('say what to change');
  });

  it('[H08] [U03] are created by keyboard, and removed after a confirmation', async () => {
    await page.getByRole('button', { name: 'New job' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: 'What should the agent do?' }).focus();
    await page.keyboard.type('Feed the cat.');
    await page.keyboard.press('Tab');
    await page.keyboard.type('cat');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.type('tomorrow 8:00');
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('The job "cat"').waitFor();
    await job('cat').getByText('once, ').waitFor();
    for (const title of ['cat', 'roses']) {
      await page.getByRole('button', { name: `Remove: ${title}` }).click();
      await page.getByRole('button', { name: 'Remove it' }).click();
      await job(title).waitFor({ state: 'detached' });
    }
    await page.getByText(/^No (jobs|hooks) yet/).waitFor();
  });

  it('[H09] [U03] include hooks, which are created with a token that is shown once, tested and removed', async () => {
    await openView(page, 'Hooks');
    await page.getByText(/^No (jobs|hooks) yet/).waitFor();
    await page.getByRole('button', { name: 'New hook' }).click();
    await fill('Name (used in the URL)', 'house');
    await fill('Instructions for the agent', 'Say what changed.');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    const address = await page.getByRole('region', { name: 'The address of house' }).innerText();
    const [, url = '', token = ''] = /curl (\S+)[\s\S]*Bearer (\w+)/.exec(address) ?? [];
    expect(url).toBe(`${scene.parley.address}/hooks/house`);
    await job('house').waitFor();
    const headers = { authorization: `Bearer ${token}` };
    const sent = await fetch(url, { method: 'POST', headers, body: 'The light went out.' });
    expect(sent.status).toBe(202);
    await job('house').getByText('The hall is <b>dark</b>.').waitFor();
    await page.getByRole('button', { name: 'Test: house' }).click();
    await fill('A sample event', '{"hall":"off"}');
    await page.getByRole('button', { name: 'Send: house' }).click();
    await page.getByRole('status').getByText('The event was accepted').waitFor();
    await job('house').getByText('not sent again').waitFor();
    expect(await findPageFaults(page)).toEqual([]);
    await page.reload();
    await job('house').getByText('Say what changed.').waitFor();
    expect(await page.content()).not.toContain(token);
    await page.getByRole('button', { name: 'Remove: house' }).click();
    await page.getByRole('button', { name: 'Remove it' }).click();
    await job('house').waitFor({ state: 'detached' });
    expect((await fetch(url, { method: 'POST', headers, body: 'x' })).status).toBe(401);
  });
});
