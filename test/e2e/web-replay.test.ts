import { readFileSync, writeFileSync } from 'node:fs';
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
const READ_RULES = { name: 'read', arguments: { path: 'AGENTS.md' } };
const LIST = { name: 'list', arguments: {} };

describe.runIf(chromiumUrl)('replays on the page', () => {
  let scene: WebScene;
  let page: Page;
  beforeAll(async () => {
    scene = await startWebScene(
      chromiumUrl ?? '',
      { agents: { desk: { name: 'Help desk' } } },
      { price: { inputPerMillion: 1, outputPerMillion: 5 }, choices: ['other'] },
    );
    page = await scene.open({ viewport: { width: 1280, height: 860 } });
    await sendMessage(page, 'What is on today?');
    await untilAnswer(page, 'You said: What is on today?');
    scene.model.queue({ text: 'I look.', toolCalls: [READ_RULES] }, 'The rules are short.');
    await sendMessage(page, 'What are the rules?');
    await untilAnswer(page, 'The rules are short.');
    await sendMessage(page, 'Thank you.');
    await untilAnswer(page, 'You said: Thank you.');
  });
  afterAll(() => scene.close());

  const sheet = () => page.locator('.entry');
  const outcome = (title: string) =>
    page.locator('.replay-outcome').getByRole('heading', { name: title, exact: true }).waitFor();
  const side = (name: string) => page.getByRole('region', { name, exact: true });
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  /** Opens a turn by its place in the list, the newest one first. */
  async function openTurn(nth: number): Promise<void> {
    await page.goto(`${scene.parley.address}/#/replay`);
    await page.locator('.entries .entry-link').nth(nth).click();
    await outcome('Same request');
  }
  async function askModel(): Promise<void> {
    await page.getByRole('radio', { name: /^Ask the model/ }).check();
    await button('Ask the model').click();
  }

  it('[G22] are opened from a message in Why, and build the request again without asking the model', async () => {
    const asked = scene.model.total;
    await openView(page, 'Why');
    await page.locator('.why-view .entry-link').first().click();
    await page.getByRole('link', { name: 'Replay', exact: true }).last().click();
    await outcome('Same request');
    expect(await sheet().innerText()).toContain('exactly as the model received it');
    expect(await side('Recorded').innerText()).toContain('You said: Thank you.');
    expect(scene.model.total).toBe(asked);
  });

  it('[G22] are opened from a turn in Prompt, and are the same when the model answers the same way', async () => {
    await openView(page, 'Prompt');
    await page.locator('.entry-head').getByRole('link', { name: 'Replay' }).click();
    await outcome('Same request');
    expect(await sheet().innerText()).toContain('The answer is charged like any other');
    const request = JSON.stringify(scene.model.requests.at(-1)?.body);
    await askModel();
    await outcome('Same');
    expect(JSON.stringify(scene.model.requests.at(-1)?.body)).toBe(request);
    expect(await page.locator('.replay-side :is(ins, del)').count()).toBe(0);
  });

  it('[G22] show side by side what another model does: words, calls, tokens, cached share, money and latency', async () => {
    await openTurn(1);
    expect(await side('Recorded').locator('.replay-calls b').allInnerTexts()).toEqual(['read']);
    await page.getByLabel('Model', { exact: true }).fill('other');
    scene.model.queue({
      text: 'The rules were short.',
      usage: { prompt: 4_000, completion: 50, cached: 1_000 },
    });
    await askModel();
    await outcome('Changed');
    expect(await sheet().innerText()).toContain('Different: text, calls.');
    expect(scene.model.requests.at(-1)?.body.model).toBe('other');
    expect(await side('Recorded').locator('del').allInnerTexts()).toEqual(['are ', 'read']);
    expect(await side('Replayed').locator('ins').allInnerTexts()).toEqual(['were ']);
    expect(await side('Replayed').innerText()).toContain('openai-compatible/other');
    const figures = await page.getByRole('group', { name: 'Figures' }).innerText();
    for (const name of ['Tokens in', 'Tokens out', 'Cached', 'Money', 'Latency'])
      expect(figures).toContain(name);
    expect(figures).toMatch(/Cached\s+0 %\s+25 %\s+\+25 %/);
  });

  it('[G22] end at a call that the record cannot answer, unless a reading tool may answer it', async () => {
    await openTurn(0);
    const call = { toolCalls: [{ name: 'read', arguments: { path: 'SOUL.md' } }] };
    scene.model.queue(call);
    await askModel();
    await outcome('Diverged');
    expect(await side('Replayed').innerText()).toContain('not answered');
    await page.getByRole('checkbox', { name: /^Let tools that only read/ }).check();
    scene.model.queue(call, 'Kind, I read.');
    await button('Ask the model').click();
    await outcome('Changed');
    expect(await side('Replayed').innerText()).toContain('Kind, I read.');
  });

  it('[G22] change only the layer of a file with a new text', async () => {
    await openTurn(0);
    await page.getByLabel('New text for a file').selectOption('SOUL.md');
    const text = page.getByLabel('Text of SOUL.md');
    expect(await text.inputValue()).toMatch(/^# Who you are\n/);
    await text.fill('You are stern.\n');
    await button('Build the request').click();
    await outcome('Changed request');
    const parts = side('Changed parts of the request').locator('details');
    expect(await parts.locator('summary b').allInnerTexts()).toEqual(['layer soul-file']);
    await parts.locator('summary').click();
    expect(await parts.locator('del').innerText()).toContain('You are good company');
    expect(await parts.locator('ins').innerText()).toContain('You are stern.');
  });

  it('[G22] run the last turns one after another, the worst first, and keep the outcomes while one is read', async () => {
    await page.goto(`${scene.parley.address}/#/replay/last`);
    await page.getByRole('combobox', { name: 'Turns' }).selectOption('10');
    await page.getByLabel('Model', { exact: true }).fill('other');
    scene.model.queue('You said: Thank you.', { text: 'x', toolCalls: [LIST] }, 'Something else.');
    await askModel();
    await page.getByText('3 turns: 1 diverged, 1 changed, 1 same.', { exact: true }).waitFor();
    const rows = page.getByRole('group', { name: 'Turns' }).locator('tbody tr');
    expect(await rows.locator('.badge').allInnerTexts()).toEqual(['Diverged', 'Changed', 'Same']);
    expect(await page.getByRole('group', { name: 'Totals' }).innerText()).toContain('Tokens');
    const asked = scene.model.total;
    await rows.getByRole('link').first().click();
    await outcome('Diverged');
    await page.goBack();
    await rows.first().waitFor();
    expect(await rows.count()).toBe(3);
    expect(scene.model.total).toBe(asked);
  });

  it('[G22] stop after the current turn when asked to', async () => {
    await page.goto(`${scene.parley.address}/#/replay/last`);
    const goOn = scene.model.pauseBehind('Slow');
    scene.model.queue({ text: ['Slow', ' answer.'] });
    const before = scene.model.total;
    await askModel();
    await expect.poll(() => scene.model.total).toBe(before + 1);
    await button('Stop').click();
    await page.getByText('Stopping after the current turn…').waitFor();
    goOn();
    await page.getByText('1 of 3 turns: 1 changed.').waitFor();
    expect(scene.model.total).toBe(before + 1);
  });

  it('[G22] have no axe violations and fit a phone, side by side and as a list', async () => {
    await openTurn(1);
    await page.getByLabel('New text for a file').selectOption('SOUL.md');
    await page.getByLabel('Text of SOUL.md').fill('You are stern.');
    scene.model.queue({ text: 'Rules are dull.', toolCalls: [LIST] });
    await askModel();
    await outcome('Diverged');
    for (const [colorScheme, width] of [...LOOKS, ['light', 360]] as const) {
      await resizePage(page, colorScheme, width);
      expect([width, await findPageFaults(page)]).toEqual([width, []]);
    }
    await resizePage(page, 'light', 1280);
    const [left, right] = await Promise.all(
      ['Recorded', 'Replayed'].map((name) => side(name).boundingBox()),
    );
    expect(left?.y).toBe(right?.y);
  });

  it('[G22] can be kept as cases', async () => {
    await openTurn(2);
    await page.getByRole('textbox', { name: 'Name of the case' }).fill('today');
    await button('Keep as case').click();
    await page.getByRole('status').filter({ hasText: 'Kept as ' }).waitFor();
    const file = join(scene.folder.path, 'workspace/evals/today.yaml');
    expect(readFileSync(file, 'utf8')).toContain('What is on today?');
    await button('Keep as case').click();
    await page.getByRole('status').filter({ hasText: 'today exists already' }).waitFor();
  });

  it('[F14] [G22] offer the files of the agent that answered', async () => {
    const tools = join(scene.folder.path, 'workspaces/desk/TOOLS.md');
    writeFileSync(tools, 'The desk has a bell.\n');
    await page.goto(`${scene.parley.address}/#/conversations`);
    await page.getByRole('button', { name: 'New chat with…' }).click();
    await page.getByRole('link', { name: /^Help desk/ }).click();
    await page.getByRole('textbox', { name: 'Message to Help desk' }).waitFor();
    await sendMessage(page, 'Are you open?');
    await untilAnswer(page, 'You said: Are you open?');
    await openTurn(0);
    expect(await page.locator('.entry-head').innerText()).toContain('Help desk');
    await page.getByLabel('New text for a file').selectOption('TOOLS.md');
    const text = page.getByLabel('Text of TOOLS.md');
    await text.waitFor();
    expect(await text.inputValue()).toBe('The desk has a bell.\n');
  });

  it('[G22] say what is missing when a turn cannot be replayed, and what to do', async () => {
    const [oldest] = turnsOf(scene);
    const database = new DatabaseSync(join(scene.folder.path, 'parley.db'));
    database.prepare('delete from turn_prompt where turn_id = ?').run(oldest ?? '');
    database.close();
    await page.goto(`${scene.parley.address}/#/replay/${oldest}`);
    await outcome('Cannot be replayed');
    expect(await sheet().innerText()).toContain('inspector.keepDays');
    await page.goto(`${scene.parley.address}/#/replay/turn_none`);
    await page.getByRole('alert').filter({ hasText: 'Nothing is kept of the turn' }).waitFor();
  });
});

/** The turns in the database, oldest first. */
function turnsOf({ folder }: WebScene): readonly string[] {
  const database = new DatabaseSync(join(folder.path, 'parley.db'), { readOnly: true });
  const rows = database.prepare('select id from turn order by finished_at').all();
  database.close();
  return rows.map(({ id }) => String(id));
}
