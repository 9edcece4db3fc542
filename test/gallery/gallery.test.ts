import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { openChromium } from '../services/open-chromium.ts';
import { SCREENS } from './page.ts';
import { readAnswers } from './read-answers.ts';
import { writeGallery } from './write-gallery.ts';

const chromiumUrl = inject('chromiumUrl');

/** Elements that extend beyond their right edge although they may not scroll. */
const OVERFLOWING = `[...document.querySelectorAll('.message, .message :not(pre, pre *, .table-box *, .code-scroll)')]
  .filter((box) => box.scrollWidth > box.clientWidth + 1 && getComputedStyle(box).display !== 'inline'
    && !['auto', 'scroll', 'hidden'].includes(getComputedStyle(box).overflowX))
  .map((box) => box.closest('section').id + ' ' + box.closest('.screen').className + ' ' + box.className)`;

/** Fixed-width blocks of at most 40 columns that do not fit their message. */
const CUT_GRIDS = `[...document.querySelectorAll('.telephones .message pre')]
  .filter((pre) => pre.textContent.split('\\n').every((line) => /^[\\x20-\\x7e─]{0,40}$/.test(line)))
  .filter((pre) => pre.scrollWidth > pre.clientWidth)
  .map((pre) => pre.closest('section').id + ' ' + pre.closest('.screen').className + ' ' + pre.textContent)`;

describe.runIf(chromiumUrl)('the gallery', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-gallery-'));
  const troubles: string[] = [];
  const requests: string[] = [];
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    browser = await openChromium(chromiumUrl ?? '');
    page = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
    page.on('console', (message) => troubles.push(message.text()));
    page.on('pageerror', (error) => troubles.push(error.message));
    page.on('request', (request) => requests.push(request.url()));
    await page.goto(pathToFileURL(writeGallery(folder)).href);
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('[M01] shows every answer on every platform, in messages with visible text', async () => {
    for (const { id } of readAnswers()) {
      for (const screen of SCREENS) {
        const messages = page.locator(`section[id="${id}"] .screen.${screen.id} .message`);
        const shown = await messages.allInnerTexts();
        expect(shown.length, `${id} on ${screen.name}`).toBeGreaterThan(0);
        for (const text of shown) expect(text.trim(), `${id} on ${screen.name}`).not.toBe('');
      }
    }
  });

  it('[M01] does not contain anything that a platform refuses', async () => {
    expect(await page.locator('.refused').allInnerTexts()).toEqual([]);
  });

  it('[M01] does not load resources or log errors', () => {
    expect(requests).toEqual([page.url()]);
    expect(troubles).toEqual([]);
  });

  it.each([1600, 390])(
    '[M01] keeps every message within its phone at %i pixels, except for code that scrolls',
    async (width) => {
      await page.setViewportSize({ width, height: 1000 });
      expect(await page.evaluate(OVERFLOWING)).toEqual([]);
      expect(await page.evaluate(CUT_GRIDS)).toEqual([]);
      const fits = 'document.documentElement.scrollWidth <= innerWidth';
      expect(await page.evaluate(fits)).toBe(true);
      const widest =
        'Math.max(...[...document.querySelectorAll(".telephones .screen")].map((screen) => screen.offsetWidth))';
      expect(await page.evaluate(widest)).toBeLessThanOrEqual(360);
    },
  );

  it('[M01] shows code from left to right in an answer that runs from right to left', async () => {
    const directions = `[...document.querySelectorAll('#arabic-and-hebrew .web :is(code, pre)')].map((code) => getComputedStyle(code).direction)`;
    expect(new Set(await page.evaluate<string[]>(directions))).toEqual(new Set(['ltr']));
  });

  it('[M01] hides spoilers until they are hovered, including links and code', async () => {
    const colours = `[...document.querySelectorAll('#marks .telephones :is(.hidden-text, .spoiler)')]
      .flatMap((one) => [one, ...one.querySelectorAll('*')]).map((one) => getComputedStyle(one).color)`;
    const clear = 'rgba(0, 0, 0, 0)';
    expect(new Set(await page.evaluate<string[]>(colours))).toEqual(new Set([clear]));
    await page.locator('#marks .hidden-text').first().hover();
    expect(new Set(await page.evaluate<string[]>(colours)).size).toBe(2);
  });

  it('[M01] links from its list to every answer', async () => {
    const targets = await page
      .locator('nav a')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href')));
    expect(targets).toEqual(readAnswers().map(({ id }) => `#${id}`));
    const missing = `[...document.querySelectorAll('nav a')].filter((link) => !document.querySelector(link.getAttribute('href')))`;
    expect(await page.evaluate(`${missing}.length`)).toBe(0);
  });
});
