import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startWebTelegramScene, type WebTelegramScene } from './web-telegram-scene.ts';

const chromiumUrl = inject('chromiumUrl');

describe.runIf(chromiumUrl)('a reply that a person writes in a chat', () => {
  let scene: WebTelegramScene;
  let page: Page;
  beforeAll(async () => {
    scene = await startWebTelegramScene(chromiumUrl ?? '');
    page = await scene.open();
    scene.sayAsAnn('Hello');
    const rows = page.getByRole('navigation', { name: 'Conversations' }).getByRole('link');
    await rows.filter({ hasText: 'You said: Hello' }).click();
    await field().waitFor();
  });
  afterAll(() => scene.close());

  const field = () => page.getByRole('textbox', { name: 'Reply to Ann' });
  const button = () => page.getByRole('button', { name: 'Send', exact: true });
  const arrived = () => scene.textsForAnn();
  /** Handles requests for a reply until the returned function is called. */
  const intercept = async (handle: (route: Route) => Promise<void>) => {
    await page.route('**/api/conversations/reply', handle);
    return () => page.unroute('**/api/conversations/reply');
  };
  /** The gateway stores the reply, but the page does not receive the confirmation. */
  const loseAnswer = async (route: Route) => {
    await route.fetch();
    await route.abort();
  };
  const untilUncertain = () => page.getByText('The gateway does not answer.').waitFor();

  it('[U12] is sent once when Enter is pressed again before the gateway has answered', async () => {
    const held = Promise.withResolvers<void>();
    const texts: string[] = [];
    const release = await intercept(async (route) => {
      texts.push(route.request().postDataJSON().text);
      await held.promise;
      await route.continue();
    });
    await field().fill('Once');
    await field().press('Enter');
    await field().press('Enter');
    expect(await button().isDisabled()).toBe(true);
    await field().fill('Once, and the beginning of another one');
    await field().press('Enter');
    held.resolve();
    await expect.poll(arrived).toContain('Once');
    await expect.poll(() => button().isDisabled()).toBe(false);
    expect(texts).toEqual(['Once']);
    expect(await field().inputValue()).toBe('Once, and the beginning of another one');
    await release();
  });

  it('[U12] is sent once when it is repeated after a lost response, even after a reload', async () => {
    const release = await intercept(loseAnswer);
    await page.getByRole('button', { name: 'As myself' }).click();
    await field().fill('Twice');
    await field().press('Enter');
    await untilUncertain();
    await release();
    await page.reload();
    await expect.poll(() => field().inputValue()).toBe('Twice');
    await field().press('Enter');
    await expect.poll(() => field().inputValue()).toBe('');
    // Parts for a chat are sent in order, so a duplicate would arrive before this one.
    await field().fill('Last');
    await field().press('Enter');
    await expect.poll(arrived).toContain('The owner: Last');
    expect(arrived().filter((text) => text.includes('Twice'))).toEqual(['The owner: Twice']);
  });

  it('[U12] is not mistaken for an earlier reply whose response was lost', async () => {
    const release = await intercept(loseAnswer);
    await field().fill('At seven');
    await field().press('Enter');
    await untilUncertain();
    await release();
    await field().fill('At eight');
    await field().press('Enter');
    await expect.poll(arrived).toContain('The owner: At eight');
    await expect.poll(() => field().inputValue()).toBe('');
  });
});
