import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openWorkspace } from '@parley/workspace';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { findPageFaults } from './page-faults.ts';
import { openView, sendMessage, startWebScene, untilAnswer, type WebScene } from './web-scene.ts';

const chromiumUrl = inject('chromiumUrl');
const TIMEOUT = { timeout: 30_000 };
const HOSTILE = '<img src=x onerror="document.title=1">';
const SKILL = (name: string, more = '') =>
  `---\nname: ${name}\ndescription: About ${name}. ${HOSTILE}\n${more}---\n\nWarm the cups first.\n`;
const ENTRY = (id: string, person: string, text: string) =>
  `- ${text} <!-- parley id=${id} type=fact scope=user person=${person} date=2026-11-20 words=own -->\n`;

describe.runIf(chromiumUrl)('the workspace on the web page', () => {
  let scene: WebScene;
  let page: Page;
  const path = (name: string) => join(scene.folder.path, 'workspace', name);
  const got = (name: string) => readFileSync(path(name), 'utf8');
  const put = (name: string, text: string) => {
    mkdirSync(join(path(name), '..'), { recursive: true });
    writeFileSync(path(name), text);
  };
  const settings = () => readFileSync(join(scene.folder.path, 'parley.yaml'), 'utf8');
  const press = (name: string, on = page) => on.getByRole('button', { name, exact: true }).click();
  const told = (words: string, on = page) =>
    on.getByRole('status').filter({ hasText: words }).waitFor();
  const editor = (name: string, on = page) => on.getByRole('textbox', { name: `Text of ${name}` });
  const type = async (name: string, text: string, on = page) => {
    await editor(name, on).click();
    await on.keyboard.press('Control+End');
    await on.keyboard.type(text);
  };
  const lastRequest = () => JSON.stringify(scene.model.requests.at(-1));

  beforeAll(async () => {
    scene = await startWebScene(chromiumUrl ?? '');
    put('skills/tea/SKILL.md', SKILL('tea'));
    put(
      'skills/kiln/SKILL.md',
      SKILL('kiln', 'metadata: { requires: { bins: [no-such-kiln] } }\n'),
    );
    put('knowledge/boats.md', 'The boat is green.\n');
    put(
      'memory/user.md',
      ENTRY('m1111', 'web:ann', `Ann sails. ${HOSTILE}`) +
        ENTRY('m2222', 'web:ann', 'Ann likes plums.') +
        ENTRY('m3333', 'telegram:7', 'Bo builds kilns.'),
    );
    put('MEMORY.md', '# Memory\n\n- The bakery opens at six.\n- The boat is in the harbor.\n');
    put('memory/2026-11-20.md', '- The bakery opens at six.\n- A quiet day.\n');
    page = await scene.open({ viewport: { width: 1280, height: 860 } });
  });
  afterAll(() => scene.close());

  it('[U03] [W07] lets a file be edited by keyboard; the edit applies from the next turn and can be reverted', async () => {
    await openView(page, 'Files');
    await page.getByRole('link', { name: /^AGENTS.md/ }).click();
    await page.getByText('Visible to everyone').waitFor();
    await type('AGENTS.md', 'Whistle **always**.');
    await page.keyboard.press('Control+s');
    await told('Saved.');
    expect(got('AGENTS.md')).toMatch(/Whistle \*\*always\*\*\.$/);
    await page.getByRole('link', { name: /^edited by the console/ }).waitFor();
    await openView(page, 'Chat');
    await sendMessage(page, 'hello');
    await untilAnswer(page, 'You said: hello');
    expect(lastRequest()).toContain('Whistle **always**.');
    await openView(page, 'Files');
    await page.getByRole('link', { name: /^AGENTS.md/ }).click();
    await page.getByRole('link', { name: /^found like this/ }).click();
    await expect.poll(() => page.locator('.diff ins').innerText(), TIMEOUT).toContain('Whistle');
    expect(await findPageFaults(page)).toEqual([]);
    await press('Restore this version');
    await told('Restored');
    await expect.poll(() => editor('AGENTS.md').innerText(), TIMEOUT).not.toContain('Whistle');
    expect(got('AGENTS.md')).not.toContain('Whistle');
  });

  it('[U03] does not overwrite a file that was changed in the meantime, and keeps both versions', async () => {
    const name = 'knowledge/boats.md';
    await page.getByRole('link', { name: /^knowledge\/boats/ }).click();
    await type(name, 'Mine is red. ');
    put(name, 'Theirs is blue.\n');
    await press('Save');
    await told('changed in the meantime');
    expect(got(name)).toBe('Theirs is blue.\n');
    // The edit waits for a decision, even after another page was visited.
    await openView(page, 'Queue');
    await openView(page, 'Files');
    await page.getByRole('link', { name: /^knowledge\/boats/ }).click();
    const box = page.getByRole('region', { name: 'The file has changed' });
    await box.getByText('Current version').click();
    await box.getByText('Theirs is blue.').waitFor();
    await press('Overwrite with mine');
    await told('Saved.');
    expect(got(name)).toBe('The boat is green.\nMine is red. ');
    await box.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: /^found like this/ }).click();
    await page.locator('.diff del').filter({ hasText: 'Theirs is blue.' }).waitFor();
  });

  it('[U03] lets an owner-only file be created, removed and restored on a phone', async () => {
    const phone = await scene.open({ viewport: { width: 320, height: 740 } });
    await openView(phone, 'Files');
    await phone.getByRole('textbox', { name: 'Name of a new file' }).fill('notes/ropes');
    await phone.keyboard.press('Enter');
    await type('notes/ropes.md', 'Blue ropes.', phone);
    await press('Save', phone);
    await told('Saved.', phone);
    await phone.getByText('Visible to owner only').waitFor();
    expect(got('notes/ropes.md')).toBe('---\naudience: owner\n---\n\nBlue ropes.');
    expect(await findPageFaults(phone)).toEqual([]);
    await press('Remove notes/ropes.md', phone);
    await press('Remove it', phone);
    await told('Removed.', phone);
    expect(existsSync(path('notes/ropes.md'))).toBe(false);
    await phone.getByRole('link', { name: 'All files' }).click();
    await phone.getByRole('region', { name: 'Removed' }).getByRole('link').click();
    await phone.getByRole('link', { name: /^removed by the console/ }).click();
    await press('Restore this version', phone);
    await editor('notes/ropes.md', phone).waitFor();
    expect(got('notes/ropes.md')).toContain('Blue ropes.');
    await phone.context().close();
  });

  it('[G18] [W06] hides a secret in a file without losing it, and links from SOUL.md to its own page', async () => {
    const line = `The key is ${scene.parley.token}.`;
    put('knowledge/keys.md', `${line}\nA line.\n`);
    await page.goto(`${scene.parley.address}/#/files/knowledge%2Fkeys.md`);
    await type('knowledge/keys.md', 'More.');
    expect(await page.content()).not.toContain(scene.parley.token);
    await page.keyboard.press('Control+s');
    await told('Saved.');
    expect(got('knowledge/keys.md')).toBe(`${line}\nA line.\nMore.`);
    await page.goto(`${scene.parley.address}/#/files/SOUL.md`);
    await page.locator('.file-sheet').getByRole('link', { name: 'Soul' }).waitFor();
    expect(await page.locator('.editor').count()).toBe(0);
  });

  it('[S09] turns a skill off and on through the settings, and shows why it is not used', async () => {
    await openView(page, 'Skills');
    const card = (name: string) => page.getByRole('article', { name, exact: true });
    await card('kiln').getByText('needs the program "no-such-kiln"').waitFor();
    await card('kiln').getByText('Text', { exact: true }).click();
    await card('kiln').getByText('Warm the cups first.').waitFor();
    expect(await card('tea').innerText()).toContain(HOSTILE);
    await page.getByRole('button', { name: 'Turn off: tea' }).focus();
    await page.keyboard.press('Enter');
    await told('tea is off');
    expect(settings()).toMatch(/block:\s*(- |\[ ?)tea/);
    await card('tea').getByText('skills.block names it').waitFor();
    await press('Turn on: tea');
    await told('tea is on');
    expect(settings()).not.toContain('tea');
    await card('tea').getByRole('link', { name: 'Edit the file' }).click();
    await editor('skills/tea/SKILL.md').waitFor();
  });

  it('[G15] finds and deletes memories by line and by person, including those in the history', async () => {
    await openView(page, 'Memory');
    const person = (name: string) => page.getByRole('region', { name });
    // The line is visible before the search, too, so the pressed button must belong to the result.
    const searched = page.waitForResponse(/memory\/report\?.*plums/);
    await page.getByRole('searchbox').fill('plums');
    await page.getByRole('searchbox').press('Enter');
    await searched;
    await person('web:ann').getByText('Ann likes plums.').waitFor();
    await expect.poll(() => page.getByText('Ann sails.').count(), TIMEOUT).toBe(0);
    await page.getByRole('button', { name: 'Forget: Ann likes plums.' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Forget it' }).press('Enter');
    await told('1 memory from memory/user.md');
    expect(got('memory/user.md')).not.toContain('plums');
    await page.getByRole('searchbox').fill('');
    await page.keyboard.press('Enter');
    await press('Forget: The bakery opens at six.');
    await press('Forget it');
    await told('1 line of memory/2026-11-20.md');
    expect(got('MEMORY.md')).toBe('# Memory\n\n- The boat is in the harbor.\n');
    await press('Forget everything: telegram:7');
    await page.getByRole('group').getByRole('button', { name: 'Forget everything' }).click();
    await told('Forgotten');
    await person('telegram:7').waitFor({ state: 'detached' });
    expect(got('memory/user.md')).toContain('Ann sails.');
    expect(await page.title()).not.toBe('1');
  });

  it('[W04] [G15] marks memories that belong to one chat, and deletes them there', async () => {
    const headers = { authorization: `Bearer ${scene.parley.token}` };
    const list = await fetch(`${scene.parley.address}/api/conversations/list`, { headers });
    const id = /"id":"([^"]+)"/.exec(await list.text())?.[1] ?? '';
    const opened = await openWorkspace({ folder: path(''), templates: path('') });
    const { groupMemory } = opened.for({ kind: 'guest', conversationId: id });
    put(
      groupMemory,
      ENTRY('m4444', 'web:cy', 'Cy swims.') + ENTRY('m5555', 'web:ann', 'Ann rows.'),
    );
    await page.goto(`${scene.parley.address}/#/files`);
    const file = page.getByRole('link', { name: new RegExp(`^${groupMemory}`) });
    expect(await file.innerText()).toMatch(/\S alone/);
    await openView(page, 'Memory');
    await page
      .getByText(/^fact, user, 2026-11-20, in .+ alone/)
      .first()
      .waitFor();
    await press('Forget: Cy swims.');
    await press('Forget it');
    await told('1 memory');
    await press('Forget everything: web:ann');
    await page.getByRole('group').getByRole('button', { name: 'Forget everything' }).click();
    await told('2 memories');
    expect(got(groupMemory)).not.toMatch(/Cy|Ann/);
    expect(got('memory/user.md')).not.toContain('Ann');
  });

  it('[U03] cannot be read or changed without the token, or outside the workspace', async () => {
    const ask = (what: string, init: RequestInit = {}) =>
      fetch(`${scene.parley.address}/api/${what}`, {
        ...init,
        headers: { authorization: `Bearer ${scene.parley.token}`, ...init.headers },
      });
    for (const what of ['files/list', 'files/open?name=MEMORY.md', 'memory/report', 'skills/list'])
      expect((await ask(what, { headers: { authorization: '' } })).status).toBe(401);
    const order = (body: object) => ({ method: 'POST', body: JSON.stringify(body) });
    const written = (name: string) => order({ name, base: null, text: 'x' });
    for (const name of ['../parley.yaml', '../x.md', '.parley/x.md', 'SOUL.md', 'x.txt'])
      expect([name, (await ask('files/save', written(name))).status]).toEqual([name, 400]);
    const foreign = { ...written('x.md'), headers: { origin: 'https://evil.example' } };
    expect((await ask('files/save', foreign)).status).toBe(403);
    expect(existsSync(path('x.md'))).toBe(false);
    expect((await ask('files/save', order({ name: 'MEMORY.md' }))).status).toBe(400);
    const turned = order({ name: 'nothing', isOn: true });
    expect((await ask('skills/turn', turned)).status).toBe(400);
  });
});
