import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { faultsOf } from './page-faults.ts';
import { openView, say, startWebScene, untilAnswer, type WebScene } from './web-scene.ts';

const chromiumUrl = inject('chromiumUrl');
const PATIENCE = { timeout: 30_000 };
const SECRET = 's3cret-of-the-model';
const HOSTILE = '<img src=x onerror="document.title=1">';
const SKILL = (name: string, more = '') =>
  `---\nname: ${name}\ndescription: About ${name}. ${HOSTILE}\n${more}---\n\nWarm the cups first.\n`;
const ENTRY = (id: string, person: string, text: string) =>
  `- ${text} <!-- parley id=${id} type=fact scope=user person=${person} date=2026-11-20 words=own -->\n`;

describe.runIf(chromiumUrl)('the workspace on the page', () => {
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
  const editor = (name: string, on = page) =>
    on.getByRole('textbox', { name: `Text of ${name}` });
  const type = async (name: string, text: string, on = page) => {
    await editor(name, on).click();
    await on.keyboard.press('Control+End');
    await on.keyboard.type(text);
  };
  const promptOf = () => JSON.stringify(scene.model.requests().at(-1)?.body ?? '');

  beforeAll(async () => {
    scene = await startWebScene(chromiumUrl ?? '');
    put('skills/tea/SKILL.md', SKILL('tea'));
    put('skills/kiln/SKILL.md', SKILL('kiln', 'metadata: { requires: { bins: [no-such-kiln] } }\n'));
    put('knowledge/boats.md', 'The boat is green.\n');
    put('memory/user.md', ENTRY('m1111', 'web:ann', `Ann sails. ${HOSTILE}`) + ENTRY('m2222', 'web:ann', 'Ann likes plums.') + ENTRY('m3333', 'telegram:7', 'Bo builds kilns.'));
    put('MEMORY.md', '# Memory\n\n- The bakery opens at six.\n- The boat is in the harbor.\n');
    put('memory/2026-11-20.md', '- The bakery opens at six.\n- A quiet day.\n');
    page = await scene.open({ viewport: { width: 1280, height: 860 } });
  });
  afterAll(() => scene.close());

  it('screens', async () => {
    for (const [name, width] of [['Memory', 1280], ['Skills', 1280], ['Files', 1280]] as const) {
      await openView(page, name);
      await page.locator('main:visible').waitFor();
      await page.waitForTimeout(600);
      await page.screenshot({ path: `/tmp/w/shot-${name}-${width}.png` });
    }
    await page.getByRole('link', { name: /^AGENTS.md/ }).click();
    await editor('AGENTS.md').waitFor();
    await page.waitForTimeout(600);
    await page.screenshot({ path: `/tmp/w/shot-file.png` });
  });
});
