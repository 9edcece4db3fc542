import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { findPageFaults } from './page-faults.ts';
import {
  answers,
  field,
  LOOKS,
  mine,
  resizePage,
  sendMessage,
  startWebScene,
  untilAnswer,
  type WebScene,
} from './web-scene.ts';

const chromiumUrl = inject('chromiumUrl');

describe.runIf(chromiumUrl)('going back to a message on the page', () => {
  let scene: WebScene;
  let page: Page;
  beforeAll(async () => {
    scene = await startWebScene(chromiumUrl ?? '');
    page = await scene.open({ viewport: { width: 1440, height: 860 } });
    for (const text of ['one', 'two', 'three']) await say(text);
  });
  afterAll(() => scene.close());

  const say = async (text: string) => {
    await sendMessage(page, text);
    await untilAnswer(page, `You said: ${text}`);
  };
  const log = () => page.getByRole('log');
  const folded = (owner = page) => owner.locator('details.rewound');
  /** The texts of the last request to the model, without the system prompt. */
  const lastPrompt = () =>
    scene.model.requests
      .at(-1)
      ?.body.messages.filter(({ role }) => role !== 'system')
      .map(({ content }) => String(content).split('\n').at(-1));
  const continueFrom = async (selector: string, text: string) => {
    const message = log().locator(selector, { hasText: text }).first();
    await message.hover();
    await message.getByRole('button', { name: 'Continue from here' }).click();
    await message.getByRole('button', { name: 'Continue from here' }).click();
  };

  it('[G23] continues from an answer, and folds what follows into one line that expands', async () => {
    await continueFrom('.answer', 'You said: one');
    await folded().getByText('4 messages rewound').waitFor();
    await untilAnswer(page, 'Taken back');
    expect(await log().getByText('You said: two').first().isVisible()).toBe(false);
    await folded().locator('summary').click();
    await folded().getByText('You said: two').waitFor();
    await say('four');
    expect(lastPrompt()).toEqual(['one', 'You said: one', 'four']);
  });

  it('[G23] goes back before a question and puts it into the input field', async () => {
    await continueFrom('.mine', 'four');
    await folded().getByText('6 messages rewound').waitFor();
    expect(await field(page).inputValue()).toBe('four');
    await say('five');
    expect(lastPrompt()).toEqual(['one', 'You said: one', 'five']);
  });

  it('[G23] shows the fold again after a reload', async () => {
    await page.reload();
    await folded().first().waitFor();
    expect(await folded().locator('summary').allInnerTexts()).toEqual(['6 messages rewound']);
  });

  it('[G23] opens a second chat with a copy up to a message, and leaves the first one alone', async () => {
    const before = page.url();
    const answer = log().locator('.answer', { hasText: 'You said: one' }).first();
    await answer.hover();
    await answer.getByRole('button', { name: 'Branch from here' }).click();
    await untilAnswer(page, 'This is a copy of');
    expect(page.url()).not.toBe(before);
    expect(await mine(page)).toEqual(['one']);
    expect(await answers(page)).toEqual([
      'You said: one',
      expect.stringContaining('The original stays as it is'),
    ]);
    await say('other');
    expect(lastPrompt()).toEqual(['one', 'You said: one', 'other']);
    const rows = page.getByRole('navigation', { name: 'Conversations' }).getByRole('link');
    await rows.filter({ hasText: 'Branch of one' }).waitFor();
    await page.goto(before);
    await untilAnswer(page, 'You said: five');
    await say('six');
    expect(lastPrompt()?.slice(0, 3)).toEqual(['one', 'You said: one', 'five']);
  });

  it('[G23] also goes back in the conversation view, which lists nothing as undone', async () => {
    const own = await scene.open({ viewport: { width: 1440, height: 860 } });
    await own.goto(`${scene.parley.address}/#/conversations/web:default:main`);
    const message = own.locator('.said-message', { hasText: 'You said: five' }).first();
    await message.getByRole('button', { name: 'Continue from here' }).click();
    await message.getByRole('button', { name: 'Continue from here' }).click();
    await own.getByText('Tools changed nothing meanwhile').waitFor();
    await own
      .getByText(/^\d+ messages rewound$/)
      .last()
      .waitFor();
    for (const [colorScheme, width] of LOOKS) {
      await resizePage(own, colorScheme, width);
      expect([width, await findPageFaults(own)]).toEqual([width, []]);
    }
    await own.context().close();
  });
});
