import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { POOR_CONTRAST } from './poor-contrast.ts';
import { field, sendMessage, startWebScene, untilAnswer, type WebScene } from './web-scene.ts';

const chromiumUrl = inject('chromiumUrl');

const RICH = `# Heading

A paragraph with \`code\`, a [link](https://example.com/a/very/long/address/that/does/not/break/anywhere/at/all) and ||secret||.

| a wide table | with | many | columns | that | does | not | fit | a | telephone |
|---|---|---|---|---|---|---|---|---|---|
| one | two | three | four | five | six | seven | eight | nine | ${'ten'.repeat(30)} |

\`\`\`ts
${'const wide = 1; '.repeat(30)}
\`\`\`

- [x] done
  1. nested ${'x'.repeat(300)}

> quote`;

describe.runIf(chromiumUrl)("the page's appearance and accessibility", () => {
  let scene: WebScene;
  beforeAll(async () => {
    scene = await startWebScene(chromiumUrl ?? '');
    const page = await scene.open();
    scene.model.queue(RICH);
    await sendMessage(page, 'Show me everything');
    await untilAnswer(page, 'quote');
    await page.context().close();
  });
  afterAll(() => scene.close());

  const fits = (page: Page) =>
    page.evaluate(
      '[document.documentElement, ...document.querySelectorAll(".scroller, .column")].every((box) => box.scrollWidth <= box.clientWidth)',
    );

  it('[U03] scroll only code and tables sideways at 320, 360 and 768 pixels', async () => {
    const page = await scene.open();
    await untilAnswer(page, 'quote');
    for (const width of [320, 360, 768]) {
      await page.setViewportSize({ width, height: 740 });
      await field(page).fill('');
      expect([width, await fits(page)]).toEqual([width, true]);
      for (const name of ['Code', 'Table']) {
        const box = page.getByRole('group', { name }).last();
        expect(await box.evaluate((it) => it.scrollWidth > it.clientWidth)).toBe(true);
      }
      await field(page).fill('/');
      expect([width, await fits(page)]).toEqual([width, true]);
    }
    await page.context().close();
  });

  it('[U03] fit a phone, even while the page reconnects', async () => {
    const page = await scene.open({ viewport: { width: 320, height: 600 } });
    await page.route('**/channels/**', (route) => route.abort());
    await page.context().setOffline(true);
    await page.reload().catch(() => undefined);
    await page.context().setOffline(false);
    await page.reload();
    await page.getByText('Reconnecting…', { exact: true }).first().waitFor();
    expect(await fits(page)).toBe(true);
    await page.context().close();
  });

  it('[U03] give all text a contrast of 4.5 in light and dark', async () => {
    const page = await scene.open();
    await sendMessage(page, '/status');
    await untilAnswer(page, 'Model');
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const poor = await page.evaluate(POOR_CONTRAST);
      expect(poor).toEqual([]);
      const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor');
      const sum =
        String(ground)
          .match(/\d+/g)
          ?.slice(0, 3)
          .reduce((total, part) => total + Number(part), 0) ?? 0;
      expect(sum > 600).toBe(colorScheme === 'light');
    }
    await page.context().close();
  });

  it('[U03] avoid animations for people who prefer reduced motion', async () => {
    const page = await scene.open({ reducedMotion: 'reduce' });
    scene.model.latencyMs = 1_500;
    await sendMessage(page, 'Think');
    await page.locator('.typing').waitFor();
    expect(await page.evaluate('document.getAnimations().length')).toBe(0);
    await untilAnswer(page, 'You said: Think');
    scene.model.latencyMs = 0;
    await page.context().close();
  });

  it('[U03] support writing, completing a command, reaching every element and leaving the field by keyboard only', async () => {
    const page = await scene.open();
    await expect.poll(() => focused(page)).toBe('TEXTAREA');
    await page.keyboard.type('first line');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('by keyboard');
    await expect.poll(() => field(page).inputValue()).toBe('first line\nby keyboard');
    await page.keyboard.press('Enter');
    await untilAnswer(page, 'You said: by keyboard');
    await expect.poll(() => focused(page)).toBe('TEXTAREA');
    await page.keyboard.type('/st');
    await page.keyboard.press('ArrowDown');
    const chosen = await field(page).getAttribute('aria-activedescendant');
    expect(chosen).toBe('command-stop');
    await expect.poll(() => page.locator(`#${chosen}`).getAttribute('aria-selected')).toBe('true');
    await page.keyboard.press('Tab');
    await expect.poll(() => field(page).inputValue()).toBe('/stop ');
    await page.keyboard.press('Enter');
    await untilAnswer(page, 'Nothing was running.');
    const reached = new Set<string>();
    for (let tabs = 0; tabs < 100; tabs += 1) {
      await page.keyboard.press('Tab');
      reached.add(
        await page.evaluate(
          'document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent',
        ),
      );
    }
    for (const name of ['New chat', 'Messages', 'Copy code', 'Code', 'Table'])
      expect([...reached]).toContain(name);
    await page.context().close();
  });

  it('[U03] give a screen reader a name for everything', async () => {
    const page = await scene.open();
    await untilAnswer(page, 'quote');
    await page.getByRole('log', { name: 'Conversation' }).waitFor();
    await page.getByRole('button', { name: 'Send', exact: true }).waitFor();
    await page.getByRole('banner').waitFor();
    await page.getByRole('main').waitFor();
    const nameless = await page.evaluate(
      `[...document.querySelectorAll('button, a, textarea, input:not(.prose input), img')]
        .filter((it) => it.localName === 'img' ? !it.hasAttribute('alt')
          : !(it.getAttribute('aria-label') || it.textContent.trim() || it.labels?.length))
        .map((it) => it.outerHTML)`,
    );
    expect(nameless).toEqual([]);
    scene.model.latencyMs = 1_500;
    await sendMessage(page, 'Announce it');
    await page.getByRole('status').getByText('is writing…').waitFor();
    await untilAnswer(page, 'You said: Announce it');
    await expect.poll(() => page.getByRole('status').textContent()).toBe('');
    const log = page.getByRole('log');
    await expect.poll(() => log.getAttribute('aria-live')).toBe('polite');
    await expect.poll(() => log.locator('article').last().innerText()).toMatch(/^\w+, .*:/);
    scene.model.latencyMs = 0;
    await page.context().close();
  });

  const focused = (page: Page) => page.evaluate('document.activeElement.tagName');
});
