import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import {
  field,
  mine,
  sendMessage,
  startWebScene,
  untilAnswer,
  type WebScene,
} from './web-scene.ts';

const chromiumUrl = inject('chromiumUrl');

/** One red pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);

describe.runIf(chromiumUrl)('files and chats on the page', () => {
  let scene: WebScene;
  beforeAll(async () => {
    scene = await startWebScene(chromiumUrl ?? '', { media: { maxFileMb: 1 } });
  });
  afterAll(() => scene.close());

  it('[U08] sends picked, pasted and dropped files, which every tab still shows after a reload', async () => {
    const page = await scene.open({ viewport: { width: 320, height: 640 } });
    await page.locator('input[type=file]').setInputFiles([
      { name: 'notes <b>.txt', mimeType: 'text/html', buffer: Buffer.from('<script>1</script>') },
      { name: 'point.png', mimeType: 'image/png', buffer: PNG },
    ]);
    await page.evaluate(`
      const data = new DataTransfer();
      data.items.add(new File(['pasted'], 'pasted.txt', { type: 'text/plain' }));
      document.querySelector('#message').dispatchEvent(
        new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
    `);
    await page.getByText('pasted.txt').waitFor();
    await page.evaluate(`
      const dropped = new DataTransfer();
      dropped.items.add(new File(['dropped'], 'dropped.txt', { type: 'text/plain' }));
      document.querySelector('main.chat').dispatchEvent(
        new DragEvent('drop', { dataTransfer: dropped, bubbles: true, cancelable: true }));
    `);
    await page.getByText('dropped.txt').waitFor();
    await page.getByRole('button', { name: 'Remove pasted.txt' }).press('Enter');
    await sendMessage(page, 'What are these?');
    await untilAnswer(page, /What are these/);
    const other = await page.context().newPage();
    await other.goto(scene.parley.address);
    for (const tab of [page, other]) {
      await tab.reload();
      await tab.getByRole('img', { name: 'point.png' }).waitFor();
      expect(await tab.getByText('pasted.txt').count()).toBe(0);
      await tab.getByRole('button', { name: /dropped\.txt/ }).waitFor();
    }
    const saved = other.waitForEvent('download');
    await other.getByRole('button', { name: /notes/ }).press('Enter');
    const stream = await (await saved).createReadStream();
    expect(await text(stream)).toBe('<script>1</script>');
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await page.context().close();
  });

  it('[F10] [U08] shows pictures and downloads from the agent even after a reload, and only to their reader', async () => {
    writeFileSync(join(scene.folder.path, 'workspace/point.png'), PNG);
    writeFileSync(join(scene.folder.path, 'workspace/page.html'), '<script>alert(1)</script>');
    const send = (file: string) => ({ name: 'send_file', arguments: { file, caption: file } });
    scene.model.queue({ toolCalls: [send('point.png'), send('page.html')] }, 'Two files.');
    const page = await scene.open();
    await sendMessage(page, 'Send me both');
    await untilAnswer(page, 'Two files.');
    for (const _again of [1, 2]) {
      await page.locator('.answer img.picture').waitFor();
      await page.getByRole('button', { name: /page\.html/ }).waitFor();
      await page.reload();
      await untilAnswer(page, 'Two files.');
    }
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: /page\.html/ }).click();
    expect((await downloading).suggestedFilename()).toBe('page.html');
    const base = `${scene.parley.address}/channels/web/default`;
    const headers = { authorization: `Bearer ${scene.parley.token}` };
    const history = await (await fetch(`${base}/history`, { headers })).text();
    const [, part] = /"partId":"([^"]+)"[^{}]*"file":\{[^}]*page\.html/.exec(history) ?? [];
    const path = `${base}/sent/${part}`;
    expect((await fetch(path)).status).toBe(401);
    const found = await fetch(path, { headers });
    expect(found.headers.get('content-type')).toBe('application/octet-stream');
    expect(found.headers.get('content-disposition')).toMatch(/^attachment/);
    expect((await fetch(`${path}?chat=another-chat`, { headers })).status).toBe(404);
    await page.context().close();
  });

  it('[U08] serves a file only to its reader, and never as a page, whatever type the sender declares', async () => {
    const { address, token } = scene.parley;
    const page = await scene.open();
    const history = await fetch(`${address}/channels/web/default/history`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const id = /"messageId":"(\w+)"[^{}]*"files"/.exec(await history.text())?.[1];
    const file = `${address}/channels/web/default/files/${id}/0`;
    expect((await fetch(file)).status).toBe(401);
    const response = await fetch(file, { headers: { authorization: `Bearer ${token}` } });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': expect.stringMatching(/^attachment/),
      'cache-control': 'private, no-store',
      'x-content-type-options': 'nosniff',
    });
    await page.context().close();
  });

  it('[U08] names a file that is too large before anything is sent', async () => {
    const page = await scene.open();
    const buffer = Buffer.alloc(1_100_000);
    await page
      .locator('input[type=file]')
      .setInputFiles([{ name: 'large.bin', mimeType: 'application/octet-stream', buffer }]);
    await page.getByRole('alert').getByText('"large.bin" is larger than 1 MB').waitFor();
    await page.context().close();
  });

  it('[U08] sends an upload once when the connection breaks, even after a reload', async () => {
    const page = await scene.open();
    await page.route('**/messages?*', (route) => route.abort());
    await page
      .locator('input[type=file]')
      .setInputFiles([{ name: 'kept.txt', mimeType: 'text/plain', buffer: Buffer.from('kept') }]);
    await sendMessage(page, 'Keep it');
    await page.getByText('trying again').waitFor();
    await page.reload();
    await page.unroute('**/messages?*');
    await page.getByRole('button', { name: /kept\.txt/ }).waitFor();
    expect((await mine(page)).filter((said) => said === 'Keep it')).toHaveLength(1);
    await page.context().close();
  });

  it('[U08] keeps messages, history and draft of each chat separate, and uses the first words as the title', async () => {
    const page = await scene.open();
    await sendMessage(page, 'The first chat');
    await untilAnswer(page, 'You said: The first chat');
    await field(page).fill('half a thought');
    await page.getByRole('link', { name: 'New chat' }).press('Enter');
    await page.getByRole('heading', { name: /Say hello to/ }).waitFor();
    expect(await field(page).inputValue()).toBe('');
    await sendMessage(page, 'Second chat about ships');
    await untilAnswer(page, 'You said: Second chat about ships');
    const request = JSON.stringify(scene.model.requests.at(-1));
    expect(request).not.toContain('The first chat');
    await page.reload();
    await untilAnswer(page, 'Second chat about ships');
    expect(await mine(page)).toEqual(['Second chat about ships']);
    const elsewhere = await fetch(`${scene.parley.address}/channels/web/default/messages`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${scene.parley.token}`,
      },
      body: JSON.stringify({ id: 'from-another-tab', text: 'Meanwhile here' }),
    });
    expect(elsewhere.status).toBe(200);
    const rows = page.getByRole('navigation', { name: 'Conversations' });
    const list = rows.getByRole('link', { name: / New / });
    // The list is reloaded when the window gets the focus, and otherwise within ten seconds.
    const look = () => page.evaluate<boolean>(`dispatchEvent(new Event('focus'))`);
    await expect.poll(async () => (await look()) && list.count()).toBe(1);
    await list.press('Enter');
    await untilAnswer(page, 'You said: Meanwhile here');
    await list.waitFor({ state: 'detached' });
    expect(await field(page).inputValue()).toBe('half a thought');
    expect(await page.getByRole('log').getByText('about ships').count()).toBe(0);
    await page.getByRole('button', { name: 'Edit and resend' }).press('Enter');
    expect(await field(page).inputValue()).toBe('Meanwhile here');
    await page.reload();
    await page.getByText(/Replaces your last message/).waitFor();
    expect(await field(page).inputValue()).toBe('Meanwhile here');
    await page.context().close();
  });

  it('[U08] replaces the last message, its files and its answer on retry and edit', async () => {
    const page = await scene.open();
    const requested = () => JSON.stringify(scene.model.requests.at(-1)?.body.messages);
    const other = await page.context().newPage();
    await other.goto(scene.parley.address);
    scene.model.queue('The first answer');
    await page
      .locator('input[type=file]')
      .setInputFiles([{ name: 'kites.txt', mimeType: 'text/plain', buffer: Buffer.from('kites') }]);
    await sendMessage(page, 'Tell me of kites');
    await untilAnswer(page, 'The first answer');
    await untilAnswer(other, 'The first answer');
    scene.model.queue('The second answer');
    await page.getByRole('button', { name: 'Ask again' }).press('Enter');
    await untilAnswer(page, 'The second answer');
    expect(requested()).not.toContain('The first answer');
    expect(requested().split('Tell me of kites')).toHaveLength(2);
    expect(requested()).toContain('kites.txt');
    await page.getByRole('button', { name: 'Edit and resend' }).press('Enter');
    await page.getByText(/Replaces your last message.*files are sent again/).waitFor();
    await sendMessage(page, 'Tell me of sails');
    await untilAnswer(page, 'You said: Tell me of sails');
    expect(requested()).not.toMatch(/of kites|The second answer/);
    expect(requested()).toContain('kites.txt');
    for (const tab of [page, other, page]) {
      await untilAnswer(tab, 'You said: Tell me of sails');
      await tab.getByRole('button', { name: /kites\.txt/ }).waitFor();
      await expect.poll(() => tab.getByText(/of kites|The (first|second) answer/).count()).toBe(0);
      expect((await mine(tab)).at(-1)).toBe('Tell me of sails');
      await tab.reload();
    }
    await other.getByRole('button', { name: 'Edit and resend' }).press('Enter');
    await sendMessage(page, 'And of winds');
    await other.getByText(/no longer your last one/).waitFor();
    await sendMessage(other, 'Tell me of ropes');
    await untilAnswer(other, 'You said: Tell me of ropes');
    await other.getByText(/sent as a new message/).waitFor();
    expect((await mine(other)).slice(-3)).toEqual([
      ...['Tell me of sails', 'And of winds', 'Tell me of ropes'],
    ]);
    await page.context().close();
  });
});
