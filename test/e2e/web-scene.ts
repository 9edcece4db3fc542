import { isDueToday } from '@parley/core/testing';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { type ModelDouble, startModelDouble } from '../model/index.ts';
import { findFreePort } from '../services/free-port.ts';
import { openChromium } from '../services/open-chromium.ts';
import { startParleyInProcess, type TestParley } from './parley-here.ts';
import {
  type DataFolder,
  makeDataFolder,
  type ParleyProcess,
  startParleyProcess,
} from './parley-process.ts';

/** A Parley with its page in a real browser, and a model on loopback. */
export interface WebScene {
  readonly model: ModelDouble;
  readonly folder: DataFolder;
  readonly parley: TestParley;
  readonly browser: Browser;
  /** A signed-in page in a separate browser profile. */
  open(options?: BrowserContextOptions): Promise<Page>;
  /** Stops Parley and starts the same installation in a separate process, which can be killed. */
  startApart(): Promise<ParleyProcess>;
  /** Restarts Parley in the test process, with the same address. */
  startAgain(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts everything in the test process, on a port that survives a restart; `settings` are added to
 * the required settings, and `modelSettings` to those of the model.
 */
export async function startWebScene(
  chromiumUrl: string,
  settings = {},
  modelSettings = {},
): Promise<WebScene> {
  const [model, port, browser] = await Promise.all([
    startModelDouble(),
    findFreePort(),
    openChromium(chromiumUrl),
  ]);
  model.reply(({ messages }) => `You said: ${getLastLine(messages.at(-1)?.content)}`);
  const folder = makeDataFolder({
    model: {
      provider: 'openai-compatible',
      baseUrl: model.baseUrl,
      model: 'double',
      contextTokens: 64_000,
      ...modelSettings,
    },
    lanes: { collectPauseMs: 50 },
    http: { port },
    ...settings,
  });
  let parley: TestParley = await startParleyInProcess(folder.path);
  return {
    model,
    folder,
    browser,
    get parley() {
      return parley;
    },
    async open(options = {}) {
      const page = await (await browser.newContext(options)).newPage();
      page.setDefaultTimeout(30_000);
      await page.goto(`${parley.address}/#token=${parley.token}`);
      await page.getByText('Connected', { exact: true }).waitFor();
      return page;
    },
    async startApart() {
      await parley.end();
      const apart = await startParleyProcess(folder.path);
      parley = apart;
      return apart;
    },
    async startAgain() {
      parley = await startParleyInProcess(folder.path);
    },
    async close() {
      await browser.close();
      await parley.discard();
      await model.close();
      folder.remove();
    },
  };
}

/**
 * Two appearances of a page, of which a normal run tests only one; web-views shows every view in
 * the other two.
 */
export const LOOKS = (
  [
    ['light', 1280],
    ['dark', 320],
  ] as const
).filter((_, nth) => isDueToday(nth, 2));

/** Shows an open page in another color scheme and width, as `open` would show it. */
export async function resizePage(page: Page, colorScheme: 'light' | 'dark', width: number) {
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize({ width, height: 800 });
}

/** The views of each section except the inbox, by the names of their links. */
const PLACES = {
  Agent: [
    ...['Files', 'Memory', 'Skills', 'Heartbeat', 'Jobs', 'Hooks', 'Soul', 'Prompt'],
    ...['Replay'],
  ],
  Operate: [
    ...['Status', 'Channels', 'Queue', 'Approvals', 'Why'],
    ...['Usage', 'Logs', 'Audit', 'People'],
  ],
  Settings: ['Settings', 'Set up'],
} as const;

/** Opens one of the four sections. */
export async function openSection(page: Page, name: string): Promise<void> {
  const rail = page.getByRole('navigation', { name: 'Main' });
  await rail.getByRole('link', { name: new RegExp(`^${name}`) }).click();
}

/** Opens a view by its link in the navigation of its section; *Chat* is the inbox. */
export async function openView(page: Page, name: string): Promise<void> {
  const [place] = Object.entries(PLACES).find(([, views]) => views.some((one) => one === name)) ?? [
    'Inbox',
  ];
  await openSection(page, place);
  if (place === 'Inbox') return;
  const views = page.getByRole('navigation', { name: `${place} views` });
  await views.getByRole('link', { name: new RegExp(`^${name}`) }).click();
}

/** The addresses of all views in the navigation, in the order of their sections. */
export async function listViewAddresses(page: Page): Promise<readonly string[]> {
  const hashes = (links: string) =>
    page.locator(links).evaluateAll((all) => all.map((one) => String(one.hash)));
  const found: string[] = [];
  for (const place of await hashes('nav.rail a')) {
    await page.evaluate(`location.hash = ${JSON.stringify(place)}`);
    await page.locator(`nav.rail a[href="${place}"][aria-current]`).waitFor();
    found.push(...new Set([place, ...(await hashes('nav.views a'))]));
  }
  return found;
}

export const field = (page: Page) => page.getByRole('textbox', { name: /^Message to/ });

/** Writes a message and sends it with Enter. */
export async function sendMessage(page: Page, text: string): Promise<void> {
  await field(page).fill(text);
  await field(page).press('Enter');
}

/** The text of all finished answers, oldest first. */
export const answers = (page: Page) =>
  page.getByRole('log').locator('.answer .prose').allInnerTexts();

/** The text of all messages from the user, oldest first. */
export const mine = (page: Page) => page.getByRole('log').locator('.mine .bubble').allInnerTexts();

/** Waits until an answer with this text is finished. */
export const untilAnswer = (page: Page, text: string | RegExp) =>
  page.getByRole('log').locator('.answer', { hasText: text }).first().waitFor();

/** The last line is what the person wrote; earlier lines are context for the model. */
function getLastLine(content: unknown): string {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  return text.split('\n').at(-1) ?? '';
}
