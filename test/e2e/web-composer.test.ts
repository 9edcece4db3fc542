import type { Locator, Page } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { getMessageText } from '../model/chat-request.ts';
import { type ModelDouble, startModelDouble } from '../model/index.ts';
import { findPageFaults } from './page-faults.ts';
import { field, sendMessage, startWebScene, untilAnswer, type WebScene } from './web-scene.ts';

const chromiumUrl = inject('chromiumUrl');

describe.runIf(chromiumUrl)("the page's composer", () => {
  let scene: WebScene;
  let model: ModelDouble;
  beforeAll(async () => {
    model = await startModelDouble();
    model.reply(
      ({ messages }) => `You said: ${getMessageText(messages.at(-1)).split('\n').at(-1)}`,
    );
    const double = { provider: 'openai-compatible', baseUrl: model.baseUrl };
    scene = await startWebScene(chromiumUrl ?? '', {
      model: { ...double, model: 'double', choices: [{ ...double, model: 'other' }] },
    });
  });
  afterAll(async () => {
    await scene.close();
    await model.close();
  });

  const conversation = async (): Promise<{ id: string; mode: string; model: string | null }> => {
    const response = await fetch(`${scene.parley.address}/api/conversations/list`, {
      headers: { authorization: `Bearer ${scene.parley.token}` },
    });
    const { conversations } = JSON.parse(await response.text());
    return conversations[0];
  };
  const sizeOf = async (what: Locator) => {
    const { width = 0, height = 0 } = (await what.boundingBox()) ?? {};
    return { width, height };
  };
  const composer = (page: Page) => page.locator('main.chat .composer');
  const shoot = async (page: Page, name: string) => {
    const { SHOTS } = process.env;
    if (SHOTS) await page.screenshot({ path: `${SHOTS}/${name}.png` });
  };

  it('[U02] [U08] shows the mode and the model of the chat, and changes both', async () => {
    const page = await scene.open();
    await sendMessage(page, 'Good morning');
    await untilAnswer(page, 'You said: Good morning');
    const mode = composer(page).getByRole('combobox', { name: 'Mode', exact: true });
    const choice = composer(page).getByRole('combobox', { name: 'Model', exact: true });
    // Until the list includes the conversation, the mode is changed by a command.
    await expect.poll(() => choice.locator('option').count(), { timeout: 20_000 }).toBe(2);
    expect([await mode.inputValue(), await choice.inputValue()]).toEqual(['agent', '']);
    await mode.selectOption('Plan');
    await expect.poll(async () => (await conversation()).mode).toBe('plan');
    const name = 'openai-compatible/other';
    await choice.selectOption(name);
    await expect.poll(async () => (await conversation()).model).toBe(name);
    await page.reload();
    await expect.poll(() => mode.inputValue()).toBe('plan');
    await expect.poll(() => choice.inputValue()).toBe(name);
    await sendMessage(page, '/mode ask');
    await expect.poll(() => mode.inputValue()).toBe('ask');
    for (const width of [320, 800, 1440]) {
      await page.setViewportSize({ width, height: 800 });
      expect([width, await findPageFaults(page)]).toEqual([width, []]);
      await shoot(page, `composer-${width}`);
    }
    await page.context().close();
  });

  it('[U02] [U08] gives a new chat the default mode and model, or another mode before its first message', async () => {
    const page = await scene.open();
    await page.getByRole('link', { name: 'New chat' }).click();
    await page.getByRole('heading', { name: /Say hello to/ }).waitFor();
    const mode = composer(page).getByRole('combobox', { name: 'Mode', exact: true });
    const choice = composer(page).getByRole('combobox', { name: 'Model', exact: true });
    await expect.poll(() => choice.locator('option').allInnerTexts()).toEqual(['double (default)']);
    await mode.selectOption('Plan');
    await untilAnswer(page, /plan mode/);
    // The list now includes the conversation.
    await expect.poll(() => choice.locator('option').count(), { timeout: 20_000 }).toBe(2);
    expect(await mode.inputValue()).toBe('plan');
    expect((await conversation()).mode).toBe('plan');
    await page.context().close();
  });

  it("[U03] shows the answer to a command differently from the agent's answers, in the chat and in the inbox", async () => {
    const page = await scene.open();
    await sendMessage(page, '/whoami');
    await untilAnswer(page, 'web:owner');
    const looks = async () => ({
      command: await page.locator('.answer.is-notice:visible', { hasText: 'web:owner' }).count(),
      agent: await page
        .locator('.answer:not(.is-notice):visible', { hasText: 'You said: Good' })
        .count(),
    });
    expect(await looks()).toEqual({ command: 1, agent: 1 });
    await page.reload();
    await untilAnswer(page, 'web:owner');
    expect(await looks()).toEqual({ command: 1, agent: 1 });
    const { id } = await conversation();
    await page.goto(`${scene.parley.address}/#/conversations/${encodeURIComponent(id)}`);
    await page
      .getByRole('article', { name: /^Parley, / })
      .last()
      .waitFor();
    await expect.poll(looks).toEqual({ command: 1, agent: 1 });
    expect(await findPageFaults(page)).toEqual([]);
    await shoot(page, 'inbox-command');
    await page.context().close();
  });

  it('[U08] previews a picture before it is sent, in a frame that reserves its space before it loads', async () => {
    const page = await scene.open();
    const buffer = await sharp({
      create: { width: 900, height: 1_800, channels: 3, background: '#246' },
    })
      .png()
      .toBuffer();
    const files = [{ name: 'tower.png', mimeType: 'image/png', buffer }];
    await page.locator('input[type=file]').setInputFiles(files);
    const thumbnail = page.locator('.chosen-files img');
    await expect.poll(() => thumbnail.evaluate((it) => it.clientWidth)).toBeGreaterThan(20);
    await field(page).fill('Look');
    expect(await findPageFaults(page)).toEqual([]);
    await shoot(page, 'thumbnail');
    await field(page).press('Enter');
    await untilAnswer(page, 'Look');
    await page.route('**/files/**', async (route) => {
      await new Promise((go) => setTimeout(go, 1_500));
      await route.continue();
    });
    await page.reload();
    const frame = page.locator('.mine .frame');
    await frame.waitFor();
    const place = await sizeOf(frame);
    await page.locator('.mine .frame img').waitFor();
    expect(await sizeOf(frame)).toEqual(place);
    await page.getByRole('button', { name: 'tower.png' }).first().click();
    const whole = page.getByRole('dialog', { name: 'tower.png' });
    await whole.waitFor();
    const close = whole.getByRole('button', { name: 'Close' });
    const opacity = await close.evaluate(
      (it) => it.ownerDocument.defaultView?.getComputedStyle(it).opacity,
    );
    expect(opacity).toBe('1');
    const size = await sizeOf(whole.getByRole('img'));
    expect(Math.round(size.height / size.width)).toBe(2);
    expect(size.height).toBeGreaterThan(place.height * 2);
    expect(await findPageFaults(page)).toEqual([]);
    await shoot(page, 'whole');
    await page.keyboard.press('Escape');
    await expect.poll(() => whole.count()).toBe(0);
    await page.context().close();
  });
});
