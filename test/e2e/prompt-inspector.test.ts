import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { runCommand } from './parley-process.ts';
import { POOR_CONTRAST } from './poor-contrast.ts';
import {
  field,
  openView,
  sendMessage,
  startWebScene,
  untilAnswer,
  type WebScene,
} from './web-scene.ts';

const chromiumUrl = inject('chromiumUrl');

/** Hostile file content that tries to inject markup into the page. */
const HOSTILE = '</pre><img src=x onerror="document.title=1"><script>document.title=1</script>';

describe.runIf(chromiumUrl)('the prompt on the web page', () => {
  let scene: WebScene;
  let page: Page;
  beforeAll(async () => {
    scene = await startWebScene(chromiumUrl ?? '');
    const workspace = join(scene.folder.path, 'workspace');
    mkdirSync(workspace, { recursive: true });
    writeFileSync(join(workspace, 'AGENTS.md'), `Be kind. ${HOSTILE}\n`);
    const tasks = '## mail\n- every: 30 min\n- do: Look through new mail.\n';
    writeFileSync(join(workspace, 'HEARTBEAT.md'), tasks);
    writeFileSync(join(workspace, 'MEMORY.md'), 'The owner likes pelicans.\n');
    writeFileSync(join(workspace, 'USER.md'), `${'Something to know. '.repeat(3_000)}\n`);
    page = await scene.open({ viewport: { width: 1280, height: 860 } });
    for (const words of ['First question', 'Second question']) {
      await sendMessage(page, words);
      await untilAnswer(page, `You said: ${words}`);
    }
    await openView(page, 'Prompt');
    await page.locator('.sheet').waitFor();
  });
  afterAll(() => scene.close());

  const layer = (name: string, on: Page = page) =>
    on.locator('.layer').filter({ has: on.locator('b', { hasText: new RegExp(`^${name}$`) }) });
  const fits = (on: Page) =>
    on.evaluate(
      '[document.documentElement, ...document.querySelectorAll("main, .entry, .entries")].every((box) => box.scrollWidth <= box.clientWidth)',
    );

  it('[P17] lists the turns, newest first, and shows the newest one', async () => {
    await expect.poll(() => page.locator('.entry-link').count()).toBe(2);
    await expect
      .poll(() => page.locator('.entry-link').first().getAttribute('aria-current'))
      .toBe('true');
    await page.getByRole('heading', { name: 'Owner' }).waitFor();
    await page.getByText('layout parley', { exact: false }).first().waitFor();
  });

  it('[P17] [W02] shows the audience and size of each layer, and whether it was truncated', async () => {
    const memory = await layer('memory-file').innerText();
    expect(memory).toContain('owner only');
    expect(memory).toContain('MEMORY.md');
    await expect.poll(() => layer('agents-file').innerText()).toContain('everyone');
    await page
      .locator('.cut', { hasText: /cut: [\d,]+ of 5[67],\d{3}/ })
      .first()
      .waitFor();
    const widths = await page
      .locator('.layers .bar i')
      .evaluateAll((bars) => bars.map((bar) => Number.parseFloat(bar.style.width)));
    expect(widths.reduce((sum, width) => sum + width, 0)).toBeGreaterThan(95);
    const absent = page.locator('.unsent div', {
      has: page.getByText('heartbeat', { exact: true }),
    });
    await expect.poll(() => absent.innerText()).toContain('not a heartbeat turn');
  });

  it('[P17] counts tools, history and message besides the layers, with the same total as parley why', async () => {
    const head = await page.locator('.entry-head').innerText();
    const [, total = ''] = /([\d,]+) tokens in [\d,]+ characters/.exec(head) ?? [];
    const sizes = await page.locator('.layer-size').allInnerTexts();
    const sum = sizes.reduce((all, size) => all + Number(size.replaceAll(',', '')), 0);
    expect(sum).toBe(Number(total.replaceAll(',', '')));
    await layer('tool-definitions').locator('summary').click();
    const definitions = layer('tool-definitions').locator('.layer-text');
    await expect.poll(() => definitions.innerText()).toContain('"name":"current_time"');
    await layer('history').locator('summary').click();
    await expect
      .poll(() => layer('history').locator('li').allInnerTexts())
      .toEqual([
        expect.stringMatching(/^user: 14 characters/),
        expect.stringMatching(/^assistant: /),
      ]);
    await expect.poll(() => layer('message').innerText()).toContain('1 message');
    const why = await runCommand(['--data', scene.folder.path, 'why', 'last']);
    expect(why.out).toContain(`about ${sum} tokens`);
  });

  it('[P17] expands a layer as plain text, whatever the layer contains', async () => {
    await layer('agents-file').locator('summary').click();
    const text = layer('agents-file').locator('.layer-text');
    await text.waitFor();
    await expect.poll(() => text.innerText()).toContain(HOSTILE);
    await expect.poll(() => text.locator('img, script').count()).toBe(0);
    expect(await page.title()).not.toBe('1');
  });

  it('[P09] [P17] compares two turns, marking the shared prefix and the differences', async () => {
    await page.getByLabel('Compare with').selectOption({ index: 1 });
    await page.locator('.comparison').waitFor();
    await page.getByText('The shared prefix ends here').waitFor();
    await expect
      .poll(() => page.locator('.shared-words').innerText())
      .toMatch(/^9\d(\.\d)? % of this prompt/);
    await expect.poll(() => layer('agents-file').innerText()).toContain('the same');
    const changed = page.locator('.change.is-changed').first();
    await expect.poll(() => changed.locator('del:not(.is-shared)').count()).toBeGreaterThan(0);
    await expect.poll(() => changed.locator('ins:not(.is-shared)').count()).toBeGreaterThan(0);
    await expect.poll(() => changed.locator('.is-shared').count()).toBeGreaterThan(0);
    await page.reload();
    await page.locator('.comparison').waitFor();
    await page.goBack();
    await page.locator('.sheet').waitFor();
  });

  it('[U03] keeps an unsent message in the chat', async () => {
    await openView(page, 'Chat');
    await field(page).fill('half a sentence');
    await openView(page, 'Prompt');
    await expect.poll(() => field(page).isVisible()).toBe(false);
    await openView(page, 'Chat');
    await expect.poll(() => field(page).inputValue()).toBe('half a sentence');
    await field(page).fill('');
    await openView(page, 'Prompt');
  });

  it('[U03] works by keyboard only', async () => {
    await page.locator('.sheet').waitFor();
    const summary = layer('safety').locator('summary');
    await summary.focus();
    await page.keyboard.press('Enter');
    await layer('safety').getByText('Keep secrets.', { exact: false }).waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.className')).toBe('layer-text');
    await page.locator('.entry-link').nth(1).focus();
    await page.keyboard.press('Enter');
    await expect
      .poll(() => page.locator('.entry-link').nth(1).getAttribute('aria-current'))
      .toBe('true');
  });

  it.each([320, 390, 768])(
    '[U03] shows the list and then a turn at %i pixels, without scrolling sideways',
    async (width) => {
      const narrow = await scene.open({ viewport: { width, height: 740 } });
      await openView(narrow, 'Prompt');
      await narrow.locator('.entry-link').first().waitFor();
      expect(await fits(narrow)).toBe(true);
      await narrow.locator('.entry').waitFor({ state: 'hidden' });
      await narrow.locator('.entry-link').first().click();
      await narrow.locator('.sheet').waitFor();
      await layer('agents-file', narrow).locator('summary').click();
      expect(await fits(narrow)).toBe(true);
      await narrow.getByLabel('Compare with').selectOption({ index: 1 });
      await narrow.locator('.comparison').waitFor();
      expect(await fits(narrow)).toBe(true);
      await narrow.getByRole('link', { name: 'All turns' }).click();
      await narrow.locator('.entry').waitFor({ state: 'hidden' });
      await narrow.context().close();
    },
  );

  it.each(['light', 'dark'] as const)(
    '[U03] is readable in %s mode, with a contrast of 4.5 for all text',
    async (colorScheme) => {
      const shown = await scene.open({ colorScheme });
      await openView(shown, 'Prompt');
      await shown.locator('.sheet').waitFor();
      await layer('agents-file', shown).locator('summary').click();
      expect(await shown.evaluate(POOR_CONTRAST)).toEqual([]);
      await shown.getByLabel('Compare with').selectOption({ index: 1 });
      await shown.locator('.comparison').waitFor();
      expect(await shown.evaluate(POOR_CONTRAST)).toEqual([]);
      await shown.context().close();
    },
  );

  it('[P17] [W02] shows the prompt of a hypothetical turn, with private layers only in the main session', async () => {
    await page.getByRole('link', { name: 'Preview' }).click();
    await layer('memory-file').waitFor();
    await page.getByRole('combobox', { name: 'Channel', exact: true }).selectOption('discord');
    await page.getByText('format discord').waitFor();
    await expect.poll(() => layer('memory-file').count()).toBe(0);
    await expect.poll(() => page.locator('.unsent').innerText()).toContain('MEMORY.md: private');
    await page.getByRole('textbox', { name: 'Text' }).fill('anything new?');
    await page.getByRole('checkbox', { name: 'Heartbeat' }).check();
    await layer('heartbeat').waitFor();
    await layer('heartbeat').locator('summary').click();
    await layer('heartbeat').getByText('Look through new mail.').waitFor();
    await expect.poll(() => page.getByRole('combobox', { name: 'Mode' }).isDisabled()).toBe(true);
    await layer('tool-definitions').locator('summary').click();
    const definitions = layer('tool-definitions').locator('.layer-text');
    await expect.poll(() => definitions.innerText()).toContain('"name":"current_time"');
    expect(await definitions.innerText()).not.toContain('"name":"message"');
    await expect.poll(() => page.locator('.entry-link').count()).toBe(2);
  });

  it('[U03] fits the preview on a phone and keeps it readable', async () => {
    const narrow = await scene.open({ viewport: { width: 320, height: 740 } });
    await narrow.goto(`${scene.parley.address}/#/preview`);
    await layer('safety', narrow).waitFor();
    expect(await fits(narrow)).toBe(true);
    expect(await narrow.evaluate(POOR_CONTRAST)).toEqual([]);
    await narrow.context().close();
  });

  it('[P17] reports that a turn is no longer kept, and shows the other turns', async () => {
    await page.goto(`${scene.parley.address}/#/prompt/turn_gone`);
    await page.getByText('The prompt of that turn is not stored.').waitFor();
    await page.locator('.entry-link').first().click();
    await page.locator('.sheet').waitFor();
  });

  it('[P17] adds a turn that ran after the page was opened', async () => {
    await openView(page, 'Chat');
    await sendMessage(page, 'Third question');
    await untilAnswer(page, 'You said: Third question');
    await openView(page, 'Prompt');
    await expect.poll(() => page.locator('.entry-link').count()).toBe(3);
  });
});
