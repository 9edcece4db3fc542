import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { findPageFaults } from './page-faults.ts';
import { runCommand } from './parley-process.ts';
import { openView, sendMessage, startWebScene, untilAnswer, type WebScene } from './web-scene.ts';

const chromiumUrl = inject('chromiumUrl');

describe.runIf(chromiumUrl)('failing actions on the page', () => {
  let scene: WebScene;
  beforeAll(async () => {
    scene = await startWebScene(chromiumUrl ?? '');
  });
  afterAll(() => scene.close());

  it('[U03] report that a person is still signed in when signing out fails, and offer a retry', async () => {
    const { address } = scene.parley;
    const people = ['--data', scene.folder.path, 'people', 'add', 'Bo', '--role', 'viewer'];
    const token = /#token=(\S+)/.exec((await runCommand(people)).out)?.[1] ?? '';
    const page = await scene.browser.newPage({ viewport: { width: 320, height: 740 } });
    await page.goto(`${address}/#token=${token}`);
    await page.getByText('Bo · viewer').waitFor();
    await page.route('**/api/sessions/leave', (route) => route.abort());
    const leave = page.getByRole('button', { name: 'Sign out' });
    await leave.click();
    const note = page.getByRole('alert').filter({ hasText: 'You are still signed in.' });
    await note.getByText('The gateway does not answer.').waitFor();
    expect(await findPageFaults(page)).toEqual([]);
    await page.unroute('**/api/sessions/leave');
    await leave.click();
    await page.getByRole('heading', { name: 'This chat is private' }).waitFor();
    expect(await note.count()).toBe(0);
    await page.close();
  });

  it('[U08] report that a file could not be loaded when the connection breaks during the download', async () => {
    const page = await scene.open();
    await page
      .locator('input[type=file]')
      .setInputFiles([{ name: 'plan.txt', mimeType: 'text/plain', buffer: Buffer.from('a plan') }]);
    await sendMessage(page, 'Keep this');
    await untilAnswer(page, /Keep this/);
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    // The error that Chromium raises when the connection ends before the announced length.
    await page.evaluate("Response.prototype.blob = () => Promise.reject(new TypeError('broken'))");
    await page.getByRole('button', { name: /plan\.txt/ }).click();
    await page.getByRole('alert').getByText('Could not load plan.txt.').waitFor();
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('[U03] report an action that ended unexpectedly, and their buttons work again', async () => {
    const page = await scene.open();
    await openView(page, 'People');
    // The response of a gateway with another version.
    await page.route('**/api/people/add', (route) => route.fulfill({ json: null }));
    const add = async (name: string) => {
      await page.getByRole('textbox', { name: 'Name' }).fill(name);
      await page.getByRole('button', { name: 'Add', exact: true }).click();
    };
    await add('Zoe');
    await page.getByText('This failed unexpectedly.').waitFor();
    await page.unroute('**/api/people/add');
    await add('Zoe');
    await page.getByText('Zoe was added.').waitFor();
    await page.context().close();
  });
});
