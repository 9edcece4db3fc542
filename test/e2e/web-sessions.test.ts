import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { runCommand } from './parley-process.ts';
import { POOR_CONTRAST } from './poor-contrast.ts';
import {
  field,
  mine,
  openView,
  sendMessage,
  startWebScene,
  untilAnswer,
  type WebScene,
} from './web-scene.ts';

const chromiumUrl = inject('chromiumUrl');

/** Runs in the page and returns everything that it stores. */
const KEPT = 'JSON.stringify([document.cookie, localStorage, sessionStorage])';

describe.runIf(chromiumUrl)('signing in to the page', () => {
  let scene: WebScene;
  beforeAll(async () => {
    scene = await startWebScene(chromiumUrl ?? '');
  });
  afterAll(() => scene.close());

  const parley = (...args: string[]) => runCommand(['--data', scene.folder.path, ...args]);
  const connected = (page: Page) => page.getByText('Connected', { exact: true }).waitFor();
  const signInForm = (page: Page) => page.getByRole('heading', { name: 'This chat is private' });
  const fits = (page: Page) =>
    page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth');
  async function enter(page: Page, token: string): Promise<void> {
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Open the chat' }).click();
  }

  it('[U03] works with the form or the address, whose token is neither sent elsewhere nor stored', async () => {
    const { address, token } = scene.parley;
    const page = await (
      await scene.browser.newContext({ viewport: { width: 320, height: 640 } })
    ).newPage();
    const sent: string[] = [];
    page.on('request', (request) =>
      sent.push(`${request.url()} ${request.headers().referer ?? ''}`),
    );
    await page.goto(address);
    await signInForm(page).waitFor();
    expect([await fits(page), await page.evaluate(POOR_CONTRAST)]).toEqual([true, []]);
    await enter(page, 'not the token');
    await page.getByRole('alert').getByText('This is not the token of this gateway').waitFor();
    expect([await fits(page), await page.evaluate(POOR_CONTRAST)]).toEqual([true, []]);
    await enter(page, ` ${token} `);
    await connected(page);
    const before = await page.evaluate(KEPT);
    await page.goto(`${address}/#token=${token}`);
    await expect.poll(() => page.evaluate(KEPT)).not.toBe(before);
    expect(page.url()).toBe(`${address}/`);
    const listed = async () => (await parley('sessions')).out.trim().split('\n').length / 2;
    await expect.poll(listed).toBe(1);
    await page.reload();
    await connected(page);
    expect(sent.join()).not.toContain(token);
    const kept = await page.evaluate(KEPT);
    expect(kept).not.toContain(token);
    expect(kept).toContain('parley_session_');
    await page.context().close();
  });

  it('[U03] does not give access to another port of the same machine', async () => {
    const page = await scene.open();
    const heard: string[] = [];
    const other = createServer(({ headers, url }, response) => {
      heard.push(JSON.stringify([url, headers]));
      response.setHeader('content-type', 'text/html').end('<!doctype html><p>other</p>');
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void other.close());
    await once(other, 'listening');
    const at = other.address();
    const port = typeof at === 'object' ? at?.port : 0;
    await page.goto(`http://127.0.0.1:${port}/`);
    expect(heard).not.toEqual([]);
    expect(heard.join()).not.toMatch(/cookie|authorization|parley_session/i);
    expect(await page.evaluate('localStorage.length + document.cookie.length')).toBe(0);
    await page.context().close();
  });

  it('[U03] is required in every tab when the session is ended elsewhere, and unsent text is kept', async () => {
    const [page, owner] = [
      await scene.open(),
      await scene.open({ viewport: { width: 320, height: 640 } }),
    ];
    await sendMessage(page, 'a word for me alone');
    await untilAnswer(page, 'You said: a word for me alone');
    await openView(owner, 'People');
    const rows = owner.getByRole('article').getByRole('listitem');
    await rows.filter({ hasText: 'this browser' }).waitFor();
    expect([await fits(owner), await owner.evaluate(POOR_CONTRAST)]).toEqual([true, []]);
    await rows.filter({ hasNotText: 'this browser' }).first().getByRole('button').click();
    await signInForm(page).waitFor();
    expect(await page.locator('body').innerText()).not.toContain('a word for me alone');
    expect(await page.content()).not.toContain('a word for me alone');
    await enter(page, scene.parley.token);
    await untilAnswer(page, 'You said: a word for me alone');
    await owner.getByRole('button', { name: 'Sign out of this browser' }).click();
    await signInForm(owner).waitFor();
    // The form may belong to the page that is about to be reloaded.
    await owner.waitForFunction('localStorage.length === 0');
    await owner.context().close();
    await page.context().close();
  });

  it('[U03] resends a message that was written after the session had ended', async () => {
    const page = await scene.open();
    await field(page).fill('Typed without a session');
    // Both in one step, because the inbox list notices the end of the session within seconds.
    await page.evaluate(
      `localStorage.setItem('parley.session', 'parley_session_' + 'a'.repeat(43));
       document.querySelector('.composer').requestSubmit()`,
    );
    await signInForm(page).waitFor();
    await enter(page, scene.parley.token);
    await untilAnswer(page, 'You said: Typed without a session');
    expect((await mine(page)).filter((text) => text === 'Typed without a session')).toHaveLength(1);
    await page.context().close();
  });

  it('[U03] creates a session that "parley sessions" lists and ends, and "parley token rotate" ends everywhere', async () => {
    const page = await scene.open();
    const { out: listed } = await parley('sessions');
    expect(listed).toMatch(/^[0-9a-f]{12} {2}used .* from this machine, until/m);
    expect(listed).toContain('Chrome');
    const before = scene.parley.token;
    expect((await parley('token', 'show')).out).toBe(`${scene.parley.address}/#token=${before}\n`);
    const rotated = await parley('token', 'rotate');
    expect(rotated.out).toContain('There is a new token');
    expect(rotated.out).not.toContain(before);
    await signInForm(page).waitFor();
    await enter(page, before);
    await page.getByText('This is not the token of this gateway').waitFor();
    const address = (await parley('token', 'show')).out.trim();
    await page.goto(address);
    await connected(page);
    const id = /^[0-9a-f]{12}/.exec((await parley('sessions', 'list')).out)?.[0] ?? '';
    expect(await parley('sessions', 'end', id)).toMatchObject({
      code: 0,
      out: '1 session ended.\n',
    });
    await signInForm(page).waitFor();
    expect((await parley('sessions', 'end', id)).code).toBe(1);
    expect((await parley('sessions', 'end', '--all')).code).toBe(0);
    expect((await parley('status')).code).toBe(0);
    const written = scene.parley.err();
    for (const secret of [before, address.split('=')[1], 'parley_session_'])
      expect(written).not.toContain(secret);
    await page.context().close();
  });

  it('[U06] is possible with the address from "parley sessions new", for one browser until the session is ended', async () => {
    const { code, out } = await parley('sessions', 'new');
    const [address = ''] = out.split('\n');
    expect([code, address.split('#')[0]]).toEqual([0, `${scene.parley.address}/`]);
    expect(address).toMatch(/#token=parley_session_[\w-]{43}$/);
    expect(out).not.toContain(scene.parley.token);
    const context = await scene.browser.newContext();
    const page = await context.newPage();
    await page.goto(address);
    await connected(page);
    expect(page.url()).toBe(`${scene.parley.address}/`);
    const { out: listed } = await parley('sessions');
    expect(listed).toContain('the command line of Parley');
    expect((await parley('sessions', 'end', '--all')).code).toBe(0);
    await signInForm(page).waitFor();
    await page.goto('about:blank');
    await page.goto(address);
    await page.getByRole('alert').getByText('This link has expired').waitFor();
    await context.close();
    expect(scene.parley.err()).not.toContain('parley_session_');
  });
});
