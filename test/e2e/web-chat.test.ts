import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { findPageFaults } from './page-faults.ts';
import {
  answers,
  field,
  mine,
  sendMessage,
  startWebScene,
  untilAnswer,
  type WebScene,
} from './web-scene.ts';

const chromiumUrl = inject('chromiumUrl');

describe.runIf(chromiumUrl)('the chat in a browser', () => {
  let scene: WebScene;
  beforeAll(async () => {
    scene = await startWebScene(chromiumUrl ?? '');
  });
  afterAll(() => scene.close());

  it('[U03] shows a newcomer an explanation with examples to click', async () => {
    const page = await scene.open();
    await page.getByRole('heading', { name: /Say hello to/ }).waitFor();
    await page.getByRole('button', { name: '/help' }).click();
    await untilAnswer(page, '/whoami');
    await expect.poll(() => page.getByRole('heading', { name: /Say hello to/ }).count()).toBe(0);
    await page.context().close();
  });

  it('[F03] [F12] shows a streamed answer and then its final text, even after a reload', async () => {
    const page = await scene.open();
    const pieces = Array.from({ length: 30 }, (_, index) => `Point **${index + 1}**. `);
    const goOn = scene.model.pauseBehind('**6**');
    scene.model.queue({ text: pieces });
    await sendMessage(page, 'Make a list');
    const live = page.locator('.is-live');
    await live.getByText('Point 3.').waitFor();
    const early = await live.innerText();
    expect(early).not.toContain('Point 30.');
    goOn();
    await untilAnswer(page, 'Point 30.');
    await live.waitFor({ state: 'detached' });
    const before = [await mine(page), await answers(page)];
    expect(before[1]?.at(-1)).toBe(pieces.join('').replaceAll('*', '').trim());
    await page.reload();
    await untilAnswer(page, 'Point 30.');
    expect([await mine(page), await answers(page)]).toEqual(before);
    await page.context().close();
  });

  it('[F03] keeps several tabs in sync', async () => {
    const page = await scene.open();
    const other = await page.context().newPage();
    await other.goto(scene.parley.address);
    await other.getByText('Connected', { exact: true }).waitFor();
    await sendMessage(page, 'Said in the first tab');
    await untilAnswer(other, 'You said: Said in the first tab');
    await sendMessage(other, 'Said in the second tab');
    await untilAnswer(page, 'You said: Said in the second tab');
    await untilAnswer(other, 'You said: Said in the second tab');
    expect(await mine(other)).toEqual(await mine(page));
    expect(await answers(other)).toEqual(await answers(page));
    await page.context().close();
  });

  it('[F12] shows the answer so far in a tab opened during the answer', async () => {
    const page = await scene.open();
    const goOn = scene.model.pauseBehind('Piece 5.');
    scene.model.queue({ text: Array.from({ length: 40 }, (_, index) => `Piece ${index + 1}. `) });
    await sendMessage(page, 'Slowly please');
    await page.locator('.is-live').getByText('Piece 2.').waitFor();
    const late = await page.context().newPage();
    await late.goto(scene.parley.address);
    await late.locator('.is-live').getByText('Piece 1.').waitFor();
    goOn();
    await untilAnswer(late, 'Piece 40.');
    await page.context().close();
  });

  it('[U08] keeps a message sent during an answer below the answer, even when the answer is finished', async () => {
    const page = await scene.open();
    const goOn = scene.model.pauseBehind('Part 5.');
    scene.model.queue({ text: Array.from({ length: 20 }, (_, index) => `Part ${index + 1}. `) });
    await sendMessage(page, 'Take your time');
    await page.locator('.is-live').getByText('Part 2.').waitFor();
    await sendMessage(page, 'one more thing');
    const below = page.locator('.is-live + [role=log]');
    await below.getByText('one more thing').waitFor();
    goOn();
    await untilAnswer(page, 'Part 20.');
    await untilAnswer(page, 'You said: one more thing');
    const all = await page.locator('article .bubble, article .prose').allInnerTexts();
    const [answer, last] = [/^Part 1\./, /^one more/].map((text) =>
      all.findLastIndex((one) => text.test(one)),
    );
    expect(last).toBe((answer ?? 0) + 1);
    await page.context().close();
  });

  it('[U08] [G02] shows running tools, later keeps them collapsed below the answer, and adds buttons to an approval request', async () => {
    const page = await scene.open();
    const ask = { question: 'Which sail?', choices: ['Red', 'White'] };
    let goOn = scene.model.pauseBehind('ask_user');
    scene.model.queue(
      { toolCalls: [{ name: 'list', arguments: { path: `no-such-folder${'/deep'.repeat(20)}` } }] },
      { toolCalls: [{ name: 'ask_user', arguments: ask }] },
      { text: ['Then ', 'red ', 'it ', 'is.'] },
    );
    await sendMessage(page, 'Hoist a sail');
    await page.locator('.is-live .calls').getByText('no-such-folder').waitFor();
    goOn();
    await untilAnswer(page, 'Which sail?');
    await page.reload();
    goOn = scene.model.pauseBehind('Then ');
    await page.getByRole('group', { name: 'Your choice' }).getByText('Red').click();
    await page.locator('.is-live .calls').getByText('no-such-folder').waitFor();
    goOn();
    await untilAnswer(page, 'Then red it is.');
    const folded = page.locator('.answer', { hasText: 'Then red it is.' }).locator('summary');
    await expect.poll(() => folded.innerText()).toMatch(/^2 tools, [\d.,]+ m?s$/);
    await page.reload();
    await untilAnswer(page, 'Then red it is.');
    await folded.click();
    await page.locator('.calls li', { hasText: 'no-such-folder' }).waitFor();
    await page.getByText('Your answer: Red').waitFor();
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await findPageFaults(page)).toEqual([]);
    await page.context().close();
  });

  it('[F09] [F12] [U08] ends a long answer with the stop button, keeps its text, and frees the composer', async () => {
    const page = await scene.open();
    scene.model.pauseBehind('Word 5.');
    scene.model.queue({ text: Array.from({ length: 400 }, (_, index) => `Word ${index + 1}. `) });
    await sendMessage(page, 'Never stop');
    await page.locator('.is-live').getByText('Word 2.').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await untilAnswer(page, 'Stopped.');
    await page.locator('.is-live').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
    await page.getByText('stopped', { exact: false }).last().waitFor();
    await expect.poll(() => page.locator('.typing').count()).toBe(0);
    await untilAnswer(page, 'Word 2.');
    await sendMessage(page, 'Go on');
    await untilAnswer(page, 'You said: Go on');
    const request = JSON.stringify(scene.model.requests.at(-1)?.body.messages);
    expect(request).toMatch(/Word 2\..*\[Stopped here by the user\.\]/);
    await page.reload();
    const kept = page.locator('.answer', { hasText: 'Word 2.' });
    await expect.poll(() => kept.innerText()).toMatch(/Stopped\./);
    await page.context().close();
  });

  it('[F09] lists the commands, and marks where the context was cleared', async () => {
    const page = await scene.open();
    await field(page).pressSequentially('/');
    const names = await page.getByRole('option').locator('b').allInnerTexts();
    const first = ['/help', '/new', '/status', '/mode', '/run', '/model', '/stop', '/compact'];
    expect(names.slice(0, first.length)).toEqual(first);
    expect(names).toContain('/pair');
    await field(page).press('Escape');
    await expect.poll(() => page.getByRole('listbox').count()).toBe(0);
    await field(page).fill('');
    await page.getByRole('button', { name: 'Chat menu' }).click();
    await page.getByRole('button', { name: 'Clear context' }).click();
    await page.getByText('Context cleared').last().waitFor();
    await page.context().close();
  });

  it('[F10] reports that a message is too long, keeps its text, and lets it be edited', async () => {
    const page = await scene.open();
    const long = 'many words '.repeat(100_000);
    await sendMessage(page, long);
    await page.getByText(/Not accepted: longer than/).waitFor();
    await untilAnswer(page, /send it in smaller pieces/);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    expect((await field(page).inputValue()).length).toBe(long.length);
    await expect.poll(() => page.getByText(/Not accepted/).count()).toBe(0);
    await page.context().close();
  });

  it('[M01] shows right-to-left text, very long words and collapsed text without breaking the page', async () => {
    const page = await scene.open({ viewport: { width: 400, height: 800 } });
    scene.model.queue('مرحبا بالعالم');
    await sendMessage(page, `שלום ${'word'.repeat(200)}\n${'line\n'.repeat(60)}`);
    await untilAnswer(page, 'مرحبا');
    await page
      .getByRole('button', { name: /Show all/ })
      .last()
      .click();
    await page.getByRole('button', { name: 'Show less' }).last().waitFor();
    const direction = await page
      .locator('.answer p', { hasText: 'مرحبا' })
      .first()
      .evaluate(
        (element) => element.ownerDocument.defaultView?.getComputedStyle(element).unicodeBidi,
      );
    expect(direction).toBe('plaintext');
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await page.context().close();
  });

  it('does not scroll while a reader has scrolled up, and offers a button that leads to the end', async () => {
    const page = await scene.open({ viewport: { width: 600, height: 500 } });
    await page.getByRole('region', { name: 'Messages' }).evaluate((box) => box.scrollTo(0, 0));
    await page.getByRole('button', { name: 'Go to the newest message' }).waitFor();
    const other = await page.context().newPage();
    await other.goto(scene.parley.address);
    await sendMessage(other, 'Something new');
    await untilAnswer(page, 'You said: Something new');
    const top = () =>
      page.getByRole('region', { name: 'Messages' }).evaluate((box) => box.scrollTop);
    await expect.poll(() => top()).toBe(0);
    await page.getByRole('button', { name: 'Go to the newest message' }).click();
    await expect.poll(() => top()).toBeGreaterThan(100);
    await page.context().close();
  });

  it('copies a code block as it was written', async () => {
    const page = await scene.open({ permissions: ['clipboard-read', 'clipboard-write'] });
    scene.model.queue('```ts\nconst a = "<b>";\n  indented();\n```');
    await sendMessage(page, 'Show code');
    await untilAnswer(page, 'indented');
    await page.getByRole('button', { name: 'Copy code' }).last().click();
    await page.getByText('Copied').waitFor();
    const copied = await page.evaluate('navigator.clipboard.readText()');
    expect(copied).toBe('const a = "<b>";\n  indented();');
    await page.context().close();
  });
});
