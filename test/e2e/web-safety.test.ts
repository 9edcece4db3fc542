import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import {
  answers,
  mine,
  sendMessage,
  startWebScene,
  untilAnswer,
  type WebScene,
} from './web-scene.ts';

const chromiumUrl = inject('chromiumUrl');

/** The page title before and after the agent's name is loaded. */
const OWN_TITLES = ['Parley', 'Assistant'];

/**
 * If executed, each string would set `document.title` to `owned`, load something, or leave the
 * page.
 */
const HOSTILE = [
  '<script>document.title="owned"</script>',
  '</script><script>document.title="owned"</script>',
  '<img src=x onerror="document.title=\'owned\'">',
  '<svg onload="document.title=\'owned\'"></svg>',
  '<iframe srcdoc="<script>parent.document.title=1</script>"></iframe>',
  '<style>*{display:none}</style>',
  '<meta http-equiv="refresh" content="0;url=https://evil.example">',
  '<base href="https://evil.example/">',
  '<form action="https://evil.example"><button>Go</button></form>',
  '<a href="javascript:document.title=\'owned\'">tag link</a>',
  '[script link](javascript:document.title="owned")',
  '[spaced link](java\nscript:document.title="owned")',
  '[data link](data:text/html,<script>document.title="owned"</script>)',
  '[quote break](https://example.com/"onmouseover="document.title=\'owned\')',
  '![picture](https://evil.example/pixel.png)',
  '```"><img src=x onerror=alert(1)>\ncode\n```',
  '&lt;img src=x onerror=alert(1)&gt;',
  '<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>',
].join('\n\n');

interface Watched {
  readonly page: Page;
  /** Addresses outside the gateway that the page requested. */
  readonly foreign: string[];
  readonly complaints: string[];
}

describe.runIf(chromiumUrl)('the page under attack', () => {
  let scene: WebScene;
  beforeAll(async () => {
    scene = await startWebScene(chromiumUrl ?? '');
  });
  afterAll(() => scene.close());

  async function watched(): Promise<Watched> {
    const page = await scene.open();
    const foreign: string[] = [];
    const complaints: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(scene.parley.address)) foreign.push(request.url());
    });
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('dialog', (dialog) => complaints.push(`dialog: ${dialog.message()}`));
    return { page, foreign, complaints };
  }

  it('[U03] [M04] renders hostile Markdown and HTML harmless in an answer and in a message', async () => {
    const { page, foreign, complaints } = await watched();
    scene.model.queue(`${HOSTILE}\n\nEnd of it.`);
    await sendMessage(page, HOSTILE);
    await untilAnswer(page, 'End of it.');
    const shown = (await answers(page)).at(-1) ?? '';
    expect(shown).toContain('<script>document.title="owned"</script>');
    expect((await mine(page)).at(-1)).toContain('<iframe srcdoc=');
    const active =
      'script, img:not([src^="/page/"]), iframe, svg:not(.icon), style, meta, base, form, math';
    await expect.poll(() => page.locator('main').locator(active).count()).toBe(1); // The composer is a form.
    for (const link of await page.locator('.prose a').all()) {
      await expect
        .poll(() => link.getAttribute('href'))
        .toMatch(/^https:\/\/(?:example\.com|evil\.example)\//);
      await expect.poll(() => link.getAttribute('rel')).toContain('noopener');
    }
    for (const text of ['script link', 'data link', 'tag link']) {
      await page.locator('.prose').getByText(text).first().click();
    }
    await page.reload();
    await untilAnswer(page, 'End of it.');
    expect(OWN_TITLES).toContain(await page.title());
    expect(new URL(page.url()).origin).toBe(scene.parley.address);
    expect(foreign).toEqual([]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('[U03] stops an attack even if the Markdown printer lets it through', async () => {
    const { page, foreign } = await watched();
    const html =
      '<p>before</p><img src="https://evil.example/x.png" onerror="document.title=1"><a href="javascript:document.title=1" onclick="document.title=2">click</a><script>document.title=3</script><p style="position:fixed">after</p>';
    await page.route('**/history*', (route) =>
      route.fulfill({
        json: { entries: [{ type: 'part', partId: 'evil', turnId: 't', text: html, at: 1 }] },
      }),
    );
    await page.reload();
    await untilAnswer(page, 'after');
    const inside = await page.locator('.prose').first().innerHTML();
    expect(inside).toBe('<p>before</p><a>click</a>document.title=3<p>after</p>');
    await page.locator('.prose a').first().click();
    expect(OWN_TITLES).toContain(await page.title());
    expect(foreign).toEqual([]);
    await page.context().close();
  });

  it('[U03] does not run an injected script', async () => {
    const { page, complaints } = await watched();
    await page.evaluate(
      "document.body.append(Object.assign(document.createElement('script'), { textContent: 'document.title=1' }))",
    );
    expect(await page.title()).not.toBe('1');
    expect(complaints.join()).toContain('Content Security Policy');
    await page.context().close();
  });

  it('[U03] loads all files from the gateway, and logs nothing to the console', async () => {
    const { page, foreign, complaints } = await watched();
    await page.reload();
    await page.getByText('Connected', { exact: true }).waitFor();
    expect([foreign, complaints]).toEqual([[], []]);
    await page.context().close();
  });

  it('[U03] prevents other sites and other ports of this machine from reading or sending', async () => {
    const { address, token } = scene.parley;
    const send = (headers: Record<string, string>) =>
      fetch(`${address}/channels/web/default/messages`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, ...headers },
        body: JSON.stringify({ id: 'from-elsewhere', text: 'hello' }),
      });
    expect((await send({ origin: 'https://evil.example' })).status).toBe(403);
    expect((await send({ origin: 'http://127.0.0.1:1' })).status).toBe(403);
    expect((await send({ origin: 'null' })).status).toBe(403);
    const preflight = await fetch(`${address}/channels/web/default/messages`, {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    });
    expect(preflight.headers.get('access-control-allow-origin')).toBeNull();
  });
});
