import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { openView, startWebScene, type WebScene } from './web-scene.ts';

const chromiumUrl = inject('chromiumUrl');
const SECRET = 's3cret-of-the-model';

describe.runIf(chromiumUrl)('the settings on the web page', () => {
  let scene: WebScene;
  const file = () => join(scene.folder.path, 'parley.yaml');
  const written = () => readFileSync(file(), 'utf8');
  beforeAll(async () => {
    scene = await startWebScene(chromiumUrl ?? '', { owners: ['telegram:1'] });
    const { port } = new URL(scene.parley.address);
    await scene.parley.end();
    writeFileSync(
      file(),
      `# mine
http: { port: ${port} }
model:
  provider: openai-compatible
  baseUrl: ${scene.model.baseUrl}
  model: double
  apiKey: ${SECRET} # of the provider
agent:
  name: Polly # she
`,
    );
    await scene.startAgain();
  });
  afterAll(() => scene.close());

  const group = (page: Page, name: string) =>
    page.getByRole('navigation', { name: 'Groups of settings' }).getByText(name).click();
  const unfold = (page: Page, name: string) =>
    page.locator('summary').filter({ hasText: name }).click();

  it('[U03] [D12] are changed in a form, take effect immediately, and keep the comments and a copy of the file', async () => {
    const page = await scene.open();
    await openView(page, 'Settings');
    await page.getByLabel('Display name', { exact: true }).fill('Molly');
    await group(page, 'Heartbeat and jobs');
    await page.getByLabel('Run standing tasks', { exact: true }).selectOption('false');
    await page.getByRole('button', { name: 'Save 2 changes' }).click();
    await page.getByText('Saved.').waitFor();
    expect(written()).toContain('# mine');
    expect(written()).toContain('name: Molly # she');
    expect(written()).toMatch(/heartbeat:\n {2}enabled: false/);
    expect(readdirSync(scene.folder.path).filter((name) => name.includes('.before-'))).toHaveLength(
      1,
    );
    await expect
      .poll(
        async () => {
          await page.reload();
          // Until the page has loaded the agent's name, its heading is the program's name.
          const named = page.getByRole('heading', { level: 1, name: /olly$/ });
          return named.textContent();
        },
        { timeout: 30_000, interval: 500 },
      )
      .toBe('Molly');
    await page.context().close();
  });

  it('[U03] [D12] can also be changed in the form when they have several forms, names or lists', async () => {
    const page = await scene.open();
    const field = (id: string) => page.locator(`[id="setting-${id}"]`);
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
    await openView(page, 'Settings');
    await group(page, 'Tools and approvals');
    await page.getByLabel('New name in mcp', { exact: true }).fill('desk');
    await page.keyboard.press('Enter');
    await field('mcp.desk.url').fill('http://127.0.0.1:9/mcp');
    await unfold(page, 'HTTP headers');
    await page.getByLabel('New name in mcp.desk.headers').fill('authorization');
    await press('Add to mcp.desk.headers');
    await field('mcp.desk.headers.authorization').fill('Bearer of-the-desk');
    await group(page, 'Channels');
    await field('lanes.busy-form').selectOption('Direct chats, Group chats …');
    await field('lanes.busy.direct').selectOption('steer');
    await group(page, 'Agent and model');
    await unfold(page, 'Fallback models');
    await press('Add to model.fallback');
    await field('model.fallback.0-form').selectOption('offline');
    await page.getByRole('button', { name: 'Save 3 changes' }).click();
    await page.getByText('Saved.').waitFor();
    expect(written()).toMatch(/mcp:\n {2}desk:\n {4}url: .*\n {4}headers:\n {6}authorization: /);
    expect(written()).toMatch(/busy:\n {4}direct: steer/);
    expect(written()).toContain(`apiKey: ${SECRET} # of the provider`);
    await field('model.model').fill('double-2');
    await group(page, 'Tools and approvals');
    await page.getByLabel('Name of mcp.desk', { exact: true }).fill('table');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: /^Save/ }).click();
    await page.locator('.problem').filter({ hasText: 'mcp.table.headers.authorization' }).waitFor();
    await field('mcp.table.headers.authorization').fill('Bearer of-the-table');
    await group(page, 'Agent and model');
    await press('Remove fallback 1');
    await page.getByRole('button', { name: /^Save/ }).click();
    await page.getByText('Saved.').waitFor();
    expect(written()).toMatch(/mcp:\n {2}table:/);
    expect(written()).not.toContain('desk:');
    expect(written()).not.toContain('fallback: [offline]');
    await page.context().close();
  });

  it('[D12] are rejected when they are invalid, with the reason at the field', async () => {
    const before = written();
    const page = await scene.open();
    await openView(page, 'Settings');
    await group(page, 'Limits and money');
    const steps = page.getByLabel('Model calls per turn', { exact: true });
    await steps.fill('many');
    await page.getByRole('button', { name: 'Save 1 change' }).click();
    await page.getByText('Nothing was saved').waitFor();
    expect(await steps.getAttribute('aria-invalid')).toBe('true');
    await page.locator('#setting-limits\\.turnSteps-about .is-wrong').waitFor();
    await page.getByRole('link', { name: 'Limits and money Problem' }).waitFor();
    const problem = page.locator('.problem').filter({ hasText: 'limits.turnSteps' });
    await problem.waitFor();
    expect(written()).toBe(before);
    // The refusal concerned a version of the file that no longer exists.
    writeFileSync(file(), `${before}# edited by hand\n`);
    await page.getByRole('button', { name: 'Refresh' }).click();
    await problem.waitFor({ state: 'detached' });
    await page.getByText('Nothing was saved').waitFor({ state: 'hidden' });
    expect(await steps.getAttribute('aria-invalid')).toBe('false');
    expect(await page.getByRole('link', { name: 'Limits and money Problem' }).count()).toBe(0);
    await page.context().close();
  });

  it('[U03] are found by words of their help and reset to their default, and the last change can be undone', async () => {
    const before = written();
    const page = await scene.open();
    await openView(page, 'Settings');
    const roundTo = page.getByLabel('Round the time in prompts to (minutes)', { exact: true });
    await page.getByLabel('Search settings').fill('rounded down');
    expect(await page.locator('.setting mark').allTextContents()).toEqual(['rounded', 'down']);
    expect(await page.locator('.settings .setting').count()).toBe(1);
    await roundTo.fill('5');
    await page.getByLabel('Search settings').fill('run standing tasks');
    await page
      .getByLabel('Run standing tasks', { exact: true })
      .selectOption('A variable or file …');
    await page.getByLabel('Run standing tasks', { exact: true }).fill(`\${TASKS:-false}`);
    await page.getByRole('button', { name: 'Save 2 changes' }).click();
    await page.getByText('Saved.').waitFor();
    expect(written()).toContain('clockMinutes: 5');
    expect(written()).toMatch(/enabled: ["']?\$\{TASKS:-false\}/);
    await page.getByLabel('Search settings').fill('');
    await page.getByLabel('Only changed').check();
    await page.getByRole('button', { name: /^Reset to default: Round the time/ }).click();
    await roundTo.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Discard' }).click();
    await roundTo.waitFor();
    await page.getByRole('button', { name: 'Undo the last change' }).click();
    await page.getByRole('button', { name: 'Undo', exact: true }).click();
    await page.getByText('The last change was undone.').waitFor();
    expect(written()).toBe(before);
    await page.context().close();
  });

  it('[D12] can be edited as text, which keeps adjacent comments', async () => {
    const page = await scene.open();
    await openView(page, 'Settings');
    await group(page, 'Storage and servers');
    await page.getByRole('button', { name: 'Edit as text: retention' }).click();
    const text = page.getByLabel('retention as JSON');
    await text.fill('{ "spendDays": ');
    expect(await text.getAttribute('aria-invalid')).toBe('true');
    await text.fill('{ "spendDays": "forever" }');
    await page.getByRole('button', { name: 'Save 1 change' }).click();
    await page.getByText('Saved.').waitFor();
    expect(written()).toMatch(/retention:\n {2}spendDays: forever/);
    expect(written()).toContain('# of the provider');
    await page.context().close();
  });

  it('[U03] show the content of the draft after a reset, a removal and a discard when they are edited as text', async () => {
    const page = await scene.open();
    await openView(page, 'Settings');
    await group(page, 'Tools and approvals');
    const add = async (name: string) => {
      await page.getByLabel('New name in mcp', { exact: true }).fill(name);
      await page.keyboard.press('Enter');
    };
    await add('first');
    await add('second');
    const asText = (name: string) =>
      page.getByRole('button', { name: `Edit as text: mcp.${name}`, exact: true }).click();
    const text = (name: string) => page.getByLabel(`mcp.${name} as JSON`);
    await asText('first');
    await asText('second');
    await text('first').fill('{ "url": "http://127.0.0.1:9/first" }');
    await text('second').fill('{ "url": "http://127.0.0.1:9/second" ');
    expect(await text('second').getAttribute('aria-invalid')).toBe('true');
    await text('second').fill('{ "url": "http://127.0.0.1:9/second" }');
    const remove = page.getByRole('button', { name: 'Remove first', exact: true });
    await remove.click();
    await text('first').waitFor({ state: 'detached' });
    expect(JSON.parse(await text('second').inputValue())).toEqual({
      url: 'http://127.0.0.1:9/second',
    });
    await page.getByRole('button', { name: 'Edit as text: mcp', exact: true }).click();
    const all = page.getByLabel('mcp as JSON');
    expect(await all.inputValue()).toContain('second');
    await all.fill('{ "second": ');
    await page.getByRole('button', { name: /^(?:Remove|Reset to default): .*\(mcp\)$/ }).click();
    await expect.poll(() => all.inputValue()).not.toContain('second');
    expect(await all.getAttribute('aria-invalid')).toBe('false');
    await all.fill('{ "third": {} }');
    await page.getByRole('button', { name: 'Discard' }).click();
    await expect.poll(() => all.inputValue()).not.toContain('third');
    await page.context().close();
  });

  it('[U03] keep a cleared entry in the form until they are saved without it', async () => {
    const page = await scene.open();
    const field = (id: string) => page.locator(`[id="setting-${id}"]`);
    const save = (label: string) => page.getByRole('button', { name: label, exact: true });
    await openView(page, 'Settings');
    await group(page, 'Tools and approvals');
    await page.getByLabel('New name in mcp.table.headers').fill('accept');
    await page.keyboard.press('Enter');
    const accept = field('mcp.table.headers.accept');
    expect(await accept.inputValue()).toBe('');
    await accept.fill('text/plain');
    await save('Save 1 change').click();
    await page.getByText('Saved.').waitFor();
    expect(written()).toContain('accept: text/plain');
    await accept.fill('');
    expect(await accept.inputValue()).toBe('');
    await accept.press('Tab');
    await save('Save 1 change').click();
    await accept.waitFor({ state: 'detached' });
    expect(written()).not.toContain('accept');
    await group(page, 'Agent and model');
    await unfold(page, 'Fallback models');
    await save('Add to model.fallback').click();
    await save('Save 1 change').waitFor();
    await field('model.fallback.0-form').selectOption('Not set');
    // An empty list would not be the same as no list.
    await save('Nothing to save').waitFor();
    await page
      .getByRole('button', { name: 'Edit as text: model.fallback[0]' })
      .waitFor({ state: 'detached' });
    await save('Remove fallback 1').click();
    await field('model.fallback.0-form').waitFor({ state: 'detached' });
    await save('Nothing to save').waitFor();
    await page.context().close();
  });

  it('[U03] [G18] are edited as a file with completion and errors at their position, and no secret is shown or lost', async () => {
    const page = await scene.open();
    await openView(page, 'Settings');
    await page.getByRole('link', { name: 'File', exact: true }).click();
    const text = page.getByRole('textbox', { name: 'Settings file' });
    await text.waitFor();
    expect(await text.textContent()).toContain('apiKey: [secret] # of the provider');
    expect(await page.content()).not.toContain(SECRET);
    await text.click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('lo');
    await page.getByRole('option', { name: 'log' }).waitFor();
    await page.getByRole('option', { name: 'log' }).click();
    await page.keyboard.press('Enter');
    await page.keyboard.type('  lev');
    await page.getByRole('option', { name: 'level' }).click();
    await page.keyboard.type('loud');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+s');
    await page.locator('.cm-lint-marker-error').waitFor();
    await page.locator('.problem').filter({ hasText: 'log.level' }).waitFor();
    for (let letter = 0; letter < 4; letter += 1) await page.keyboard.press('Backspace');
    await page.keyboard.type('warn');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Save the file' }).click();
    await page.getByText('Saved.').waitFor();
    expect(written()).toContain('level: warn');
    expect(written()).toContain(`apiKey: ${SECRET} # of the provider`);
    await page.context().close();
  });

  it('[D12] are listed when they only apply at startup, and the page offers a restart', async () => {
    await scene.startApart();
    const page = await scene.open({ viewport: { width: 320, height: 740 } });
    writeFileSync(file(), `${written()}\nmedia: { maxFileMb: 3 }\n`);
    await openView(page, 'Settings');
    const waits = page.getByRole('region', { name: 'Takes effect after a restart' });
    await expect
      .poll(
        async () => {
          await page.getByRole('button', { name: 'Refresh' }).click();
          return waits.isVisible();
        },
        { timeout: 30_000, interval: 300 },
      )
      .toBe(true);
    expect(await waits.textContent()).toContain('media.maxFileMb');
    await openView(page, 'Chat');
    await page.reload();
    await page.getByRole('link', { name: 'Open the settings' }).click();
    await waits.getByRole('button', { name: 'Restart' }).click();
    await waits.getByRole('group').getByRole('button', { name: 'Restart' }).click();
    await waits.waitFor({ state: 'detached' });
    await page.context().close();
  });
});
