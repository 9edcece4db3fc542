import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { findPageFaults } from './page-faults.ts';
import { startWebScene, type WebScene } from './web-scene.ts';

const chromiumUrl = inject('chromiumUrl');
/** The number of entries per page of the list. */
const PAGE = 50;

describe.runIf(chromiumUrl)('the conversation list, page by page', () => {
  let scene: WebScene;
  let page: Page;
  /** The titles of all conversations by the number of their newest message. */
  let talks: Map<number, string>;
  /** Whether the gateway answers requests for older pages. */
  let hasOlder = true;
  beforeAll(async () => {
    scene = await startWebScene(chromiumUrl ?? '');
    page = await scene.open({ viewport: { width: 1440, height: 860 } });
    await page.route('**/api/conversations/list*', async (route) => {
      const before = new URL(route.request().url()).searchParams.get('before');
      if (before !== null && !hasOlder) return route.abort();
      await route.fulfill({ json: listBefore(Number(before ?? Number.MAX_SAFE_INTEGER)) });
    });
  });
  beforeEach(async () => {
    hasOlder = true;
    talks = new Map();
    arrive(1, 120);
    await page.goto('about:blank');
    await page.goto(`${scene.parley.address}/#/conversations`);
    await expect.poll(titles).toEqual(titlesOf(120, 71));
  });
  afterAll(() => scene.close());

  const arrive = (from: number, to: number): void => {
    for (let seq = from; seq <= to; seq += 1) talks.set(seq, `Talk ${seq}`);
  };
  const listBefore = (before: number) => {
    const found = [...talks]
      .filter(([seq]) => seq < before)
      .toSorted(([a], [b]) => b - a)
      .slice(0, PAGE);
    const conversations = found.map(([seq, title]) => conversationOf(seq, title));
    const next = found.length < PAGE ? null : (found.at(-1)?.[0] ?? null);
    return { now: 0, conversations, next, marks: [], isKnownReader: true };
  };
  /** All entries except the page's empty chat. */
  const titles = () => page.locator('.inbox-row .entry-title', { hasText: 'Talk' }).allInnerTexts();
  const titlesOf = (first: number, last: number) =>
    Array.from({ length: first - last + 1 }, (_, nth) => `Talk ${first - nth}`);
  const older = () => page.getByRole('button', { name: 'Older conversations' });
  const reload = () => page.evaluate("dispatchEvent(new Event('focus'))");

  it('[U08] does not have gaps when more than a page of entries arrived while it was not connected', async () => {
    await older().click();
    await expect.poll(titles).toEqual(titlesOf(120, 21));
    arrive(121, 190);
    await reload();
    await expect.poll(titles).toEqual(titlesOf(190, 41));
    await older().click();
    await expect.poll(titles).toEqual(titlesOf(190, 1));
    await older().waitFor({ state: 'detached' });
  });

  it('[U08] keeps the older entries that a person has loaded when newer entries arrive', async () => {
    await older().click();
    await expect.poll(titles).toEqual(titlesOf(120, 21));
    arrive(121, 121);
    await reload();
    await expect.poll(titles).toEqual(titlesOf(121, 1));
  });

  it('[U08] does not show a deleted entry or duplicates of a moved entry, on any page', async () => {
    await older().click();
    await older().click();
    await expect.poll(titles).toEqual(titlesOf(120, 1));
    talks.delete(100);
    talks.delete(40);
    talks.delete(10);
    talks.set(121, 'Talk 10');
    await reload();
    const left = titlesOf(120, 1).filter((title) => !/^Talk (?:100|40|10)$/.test(title));
    await expect.poll(titles).toEqual(['Talk 10', ...left]);
  });

  it('[U08] shows beside the button why older entries could not be loaded, and retries', async () => {
    hasOlder = false;
    await older().click();
    const list = page.getByRole('navigation', { name: 'Conversations' });
    await list.getByRole('alert').getByText('The gateway does not answer.').waitFor();
    expect(await findPageFaults(page)).toEqual([]);
    hasOlder = true;
    await list.getByRole('button', { name: 'Try again' }).click();
    await expect.poll(titles).toEqual(titlesOf(120, 21));
    await list.getByRole('alert').waitFor({ state: 'detached' });
    await older().waitFor();
  });
});

/** A conversation in the form of `conversations/list`, with an id derived from the title. */
function conversationOf(newest: number, title: string) {
  const id = title.replace(' ', '-');
  return {
    ...{ id: `telegram:default:${id}`, channel: 'telegram', account: 'default', chatId: id },
    ...{ chatType: 'direct', title, name: null, agent: 'main', mode: 'agent', model: null },
    ...{ state: 'idle', waiting: 0, runningSince: null, takenOver: null, failure: null },
    ...{ newest, newestPart: 0, isNew: false },
    last: { direction: 'in', at: newest, text: 'hello', by: null },
  };
}
