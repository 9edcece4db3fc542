import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { findPageFaults } from './page-faults.ts';
import { sendMessage, startWebScene, untilAnswer, type WebScene } from './web-scene.ts';

const chromiumUrl = inject('chromiumUrl');

const LONG = Array.from({ length: 60 }, (_, nth) => `x_{${nth}}`).join('+');
const DEEP = `${'\\sqrt{'.repeat(150)}x${'}'.repeat(150)}`;
const ANSWER = String.raw`Inline $E = mc^2$ and \(a^2 + b^2\), **prices of $5 and $10**.

$$
\begin{aligned}
a &= \frac{1}{2} \\
b &= \sqrt{c}
\end{aligned}
$$

\[ ${LONG} \]

A matrix $\begin{pmatrix}${Array.from({ length: 14 }, (_, nth) => nth).join('&')}\end{pmatrix}$ in a line.

A mistake $\unknown{x}$, an address $\href{https://example.com}{x}$, a loop $\def\a{\a\a}\a$, a color $\color{red}{\pmb{y}}$, a tower $${DEEP}$.

The end.`;

/** The formulas of the last answer: whether each one is rendered, on its own line, and its text. */
const FORMULAS = `[...[...document.querySelectorAll('.prose:has(.math)')].at(-1).querySelectorAll('.math')].map((it) => [
  it.firstElementChild?.localName === 'math', it.classList.contains('is-display'), it.textContent.slice(0, 20)])`;

describe.runIf(chromiumUrl)('formulas on the web page', () => {
  let scene: WebScene;
  beforeAll(async () => {
    scene = await startWebScene(chromiumUrl ?? '');
  });
  afterAll(() => scene.close());

  /** Opens a page that records violations of the content policy and the loaded files. */
  const watched = async (): Promise<{ page: Page; stopped: string[]; loaded: string[] }> => {
    const page = await scene.open({ viewport: { width: 800, height: 900 } });
    const [stopped, loaded]: [string[], string[]] = [[], []];
    page.on('console', (line) => {
      if (/content security policy/i.test(line.text())) stopped.push(line.text());
    });
    page.on('request', (request) => loaded.push(new URL(request.url()).pathname));
    await page.reload();
    await page.getByText('Connected', { exact: true }).waitFor();
    return { page, stopped, loaded };
  };
  const isDrawn = (page: Page) =>
    expect.poll(() => page.locator('.prose math').count()).toBeGreaterThan(4);

  it('[U02] [U08] are rendered as MathML in the chat and in the inbox, and as source when invalid', async () => {
    const { page, stopped, loaded } = await watched();
    await sendMessage(page, 'No formula');
    await untilAnswer(page, 'You said: No formula');
    const isLibrary = (path: string) => path.startsWith('/page/maths-');
    expect(loaded.filter(isLibrary)).toEqual([]);
    scene.model.queue(ANSWER);
    await sendMessage(page, 'Some maths');
    await untilAnswer(page, 'The end.');
    await isDrawn(page);
    expect(loaded.filter(isLibrary)).toHaveLength(1);
    const formulas = await page.evaluate(FORMULAS);
    expect(formulas).toEqual([
      [true, false, 'E=mc2'],
      [true, false, 'a2+b2'],
      [true, true, expect.stringContaining('a=12')],
      [true, true, expect.stringContaining('x0+x1')],
      [true, false, expect.stringContaining('0123')],
      [false, false, String.raw`$\unknown{x}$`],
      [false, false, expect.stringContaining(String.raw`$\href{https`)],
      [false, false, expect.stringContaining(String.raw`$\def\a`)],
      [true, false, 'y'],
      [false, false, expect.stringContaining('$\\sqrt{')],
    ]);
    const prices = page.locator('strong', { hasText: 'prices of $5 and $10' });
    await prices.waitFor();
    await page.reload();
    await isDrawn(page);
    expect(await page.evaluate(FORMULAS)).toEqual(formulas);
    const row = page.getByRole('navigation', { name: 'Conversations' }).getByRole('link').first();
    await row.waitFor();
    const conversations = await fetch(`${scene.parley.address}/api/conversations/list`, {
      headers: { authorization: `Bearer ${scene.parley.token}` },
    });
    const [, id = ''] = /"id":"([^"]+)"/.exec(await conversations.text()) ?? [];
    await page.goto(`${scene.parley.address}/#/conversations/${encodeURIComponent(id)}`);
    await page.locator('.said-list math').first().waitFor();
    await isDrawn(page);
    expect(await page.evaluate(FORMULAS)).toEqual(formulas);
    expect(stopped).toEqual([]);
    await page.context().close();
  });

  it('[U03] [U08] fit a phone, where only a long formula scrolls, also by keyboard', async () => {
    const { page, stopped } = await watched();
    await isDrawn(page);
    for (const [colorScheme, width] of [
      ['light', 320],
      ['dark', 1440],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      const group = page.getByRole('group', { name: 'Formula' });
      await expect.poll(() => group.count()).toBe(width === 320 ? 2 : 1);
      expect(await findPageFaults(page)).toEqual([]);
      const { SHOTS } = process.env;
      if (SHOTS) await page.screenshot({ path: `${SHOTS}/maths-${width}.png` });
    }
    expect(stopped).toEqual([]);
    await page.context().close();
  });

  it('[U08] are copied from an answer as they were written', async () => {
    const page = await scene.open({ permissions: ['clipboard-read', 'clipboard-write'] });
    await isDrawn(page);
    const answer = page.locator('article.answer', { hasText: 'The end.' }).last();
    await answer.getByRole('button', { name: 'Copy answer' }).click();
    await page.getByText('Copied').waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(copied).toContain('Inline $E = mc^2$ and');
    expect(copied).toContain('\\begin{aligned}\na &= \\frac{1}{2}');
    await expect.poll(() => answer.locator('math').count()).toBe(6);
    await page.context().close();
  });
});
