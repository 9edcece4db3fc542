import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import sharp from 'sharp';
import { listViewAddresses } from '../e2e/web-scene.ts';
import { startChromium } from '../services/chromium.ts';
import { type ExampleParley, startExample } from './example.ts';
import { capturePlatforms } from './platforms.ts';

/** The folder also contains other screenshots. */
const FOLDER = join(import.meta.dirname, '../../docs/images/page');
const DESKTOP = { width: 1280, height: 860 };
const PHONE = { width: 390, height: 844 };
const ON_PHONE = new Set(['chat', 'conversations']);
/** The widths for judging a redesign: a small phone, half a screen, a wide screen. */
const WIDTHS = [320, 800, 1440] as const;
const SCHEMES = ['light', 'dark'] as const;
/** Colors per picture: the page has few, and a small file matters more than exact shades. */
const COLORS = 96;
/** A view that is still loading after this time is captured anyway. In ms. */
const TIMEOUT_MS = 8_000;

/**
 * `npm run screenshots`: captures every view of the page, in light and dark, from a newly created
 * example, and each platform of `parley simulate`. `-- platforms` captures only the platforms, and
 * `-- widths FOLDER [VIEW …]` captures every view at three widths, so that a change can be judged
 * by eye.
 */
async function captureScreenshots(
  mode?: string,
  folder?: string,
  ...only: readonly string[]
): Promise<void> {
  const chromium = await startChromium();
  if (chromium.state === 'missing') throw new Error(chromium.reason);
  if (mode !== 'widths') await capturePlatforms(chromium.value);
  if (mode === 'platforms') return chromium.stop();
  const example = await startExample(chromium.value);
  try {
    if (mode === 'widths') await captureWidths(example, resolve(folder ?? 'screenshots'), only);
    else await captureDocs(example);
  } finally {
    await example.close();
    await chromium.stop();
  }
}

/** Captures the pictures for the documentation. */
async function captureDocs(example: ExampleParley): Promise<void> {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  for (const colorScheme of SCHEMES) {
    const page = await openPage(example, { colorScheme, viewport: DESKTOP });
    for (const view of await listViews(page))
      await captureView(page, example, view, join(FOLDER, `${view}-${colorScheme}`));
    await page.context().close();
    const phone = await openPage(example, { colorScheme, viewport: PHONE, isMobile: true });
    for (const view of ON_PHONE)
      await captureView(phone, example, view, join(FOLDER, `${view}-phone-${colorScheme}`));
    await phone.context().close();
  }
  const bytes = readdirSync(FOLDER).map((name) => statSync(join(FOLDER, name)).size);
  const sum = bytes.reduce((all, one) => all + one, 0);
  console.log(`${bytes.length} pictures, ${(sum / 1e6).toFixed(2)} MB, in ${FOLDER}`);
}

/**
 * Captures every view, including those reached only by address, at each width in both themes; with
 * `only`, just these views.
 */
async function captureWidths(
  example: ExampleParley,
  folder: string,
  only: readonly string[],
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const page = await openPage(example, { viewport: DESKTOP });
  const views = [...(await listViews(page)), ...example.deeper];
  for (const view of views.filter((one) => only.length === 0 || only.includes(one)))
    for (const width of WIDTHS)
      for (const colorScheme of SCHEMES) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: width < 500 ? 720 : 900 });
        await captureView(page, example, view, join(folder, `${view}-${width}-${colorScheme}`));
      }
  await page.context().close();
}

function openPage(example: ExampleParley, options: BrowserContextOptions): Promise<Page> {
  return example.scene.open({ ...options, locale: 'en-GB', timezoneId: 'Europe/Berlin' });
}

/** The chat, and every view in the navigation, so that new views are included automatically. */
async function listViews(page: Page): Promise<readonly string[]> {
  const links = await listViewAddresses(page);
  const views = links.flatMap((href) => /^#\/([a-z-]+)/.exec(href)?.[1] ?? []);
  return [...new Set(['chat', 'conversations', ...views])];
}

/**
 * A script for the page that replaces this machine's folders with the folders of a usual
 * installation.
 */
function createPathScript(data: string): string {
  const folders = [
    [resolve(import.meta.dirname, '../..'), '/opt/parley'],
    [data, '/home/ann/.parley'],
  ];
  return `{
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node !== null; node = texts.nextNode())
      for (const [own, usual] of ${JSON.stringify(folders)})
        if (node.nodeValue.includes(own)) node.nodeValue = node.nodeValue.replaceAll(own, usual);
  }`;
}

/** Captures a view; `path` has no file extension. */
async function captureView(
  page: Page,
  example: ExampleParley,
  view: string,
  path: string,
): Promise<void> {
  await page.goto(`${example.scene.parley.address}/${example.addressOf(view)}`);
  const main = page.locator('main:visible');
  await main.first().waitFor();
  const loading = main.getByText('Loading…').first();
  await loading.waitFor({ state: 'detached', timeout: TIMEOUT_MS }).catch(() => undefined);
  await page.evaluate('document.fonts.ready.then(() => undefined)');
  // Waits for scrolling to the end and for late drawing.
  await page.waitForTimeout(400);
  await page.evaluate(createPathScript(example.scene.folder.path));
  const picture = await page.screenshot({ animations: 'disabled', caret: 'hide' });
  await sharp(picture).png({ palette: true, colors: COLORS, effort: 10 }).toFile(`${path}.png`);
}

await captureScreenshots(...process.argv.slice(2));
