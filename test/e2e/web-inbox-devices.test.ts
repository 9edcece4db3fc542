import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { findPageFaults } from './page-faults.ts';
import { field, sendMessage, untilAnswer } from './web-scene.ts';
import { startWebTelegramScene, type WebTelegramScene } from './web-telegram-scene.ts';

const chromiumUrl = inject('chromiumUrl');
/** A one-pixel picture. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const WIDE = { viewport: { width: 1440, height: 860 } };

describe.runIf(chromiumUrl)('the inbox on several devices', () => {
  let scene: WebTelegramScene;
  /**
   * A person's browser, and a second browser whose clock is stopped, so that only events update it.
   */
  let desk: Page;
  let phone: Page;
  beforeAll(async () => {
    scene = await startWebTelegramScene(chromiumUrl ?? '', { approvals: { ask: ['write'] } });
    desk = await scene.open(WIDE);
    await sendMessage(desk, 'a note about ships');
    await untilAnswer(desk, 'You said: a note about ships');
    scene.sayAsAnn('Hello');
    await row(desk, 'Ann').getByText('You said: Hello').waitFor();
    phone = await scene.open(WIDE);
    await row(phone, 'Ann').waitFor();
    await standStill(phone);
  });
  afterAll(() => scene.close());

  /** Stops the page's intervals, while events from the gateway still arrive. */
  const standStill = async (page: Page) => {
    await page.clock.install();
    await page.clock.runFor(5_000);
  };
  const rows = (page: Page) =>
    page.getByRole('navigation', { name: 'Conversations' }).getByRole('link');
  const row = (page: Page, text: string) => rows(page).filter({ hasText: text });
  const titles = (page: Page) => page.locator('.inbox-row .entry-title').allInnerTexts();
  /** The text of a page after the delay during which the page batches events. */
  const seenBy = (page: Page, look: () => Promise<unknown>) =>
    expect.poll(async () => {
      await page.clock.runFor(1_100);
      return look();
    });
  const menu = async (item: string) => {
    await desk.getByRole('button', { name: 'Chat menu' }).click();
    await desk.getByRole('group', { name: 'Chat' }).getByRole('button', { name: item }).click();
  };

  it('[U12] shows names and pins that were set on one device on the other device, which receives them as events', async () => {
    await row(desk, 'ships').click();
    await field(desk).waitFor();
    await menu('Pin');
    await expect.poll(() => titles(desk)).toEqual(['a note about ships', 'Ann']);
    await desk.getByRole('button', { name: 'Chat menu' }).click();
    await desk.getByRole('button', { name: 'Rename…' }).click();
    await desk.getByRole('textbox', { name: 'Chat name' }).fill('Harbor');
    await desk.keyboard.press('Enter');
    await seenBy(phone, () => titles(phone)).toEqual(['Harbor', 'Ann']);
    expect(
      await desk.evaluate('Object.keys(localStorage).filter((key) => /inbox|seen/.test(key))'),
    ).toEqual([]);
    await menu('Unpin');
    await seenBy(phone, () => titles(phone)).toEqual(['Ann', 'Harbor']);
  });

  it('[U12] marks a message as new until one of the devices has shown it', async () => {
    scene.sayAsAnn('Is there news?');
    const isNew = (page: Page) => row(page, 'Ann').getByText('New', { exact: true }).count();
    await seenBy(phone, () => isNew(phone)).toBe(1);
    await row(desk, 'Ann').click();
    await desk.getByRole('article').getByText('You said: Is there news?').waitFor();
    await seenBy(phone, () => isNew(phone)).toBe(0);
    await menu('Mark as unread');
    await seenBy(phone, () => isNew(phone)).toBe(1);
    expect(await isNew(desk)).toBe(1);
  });

  it('[U08] also applies the channel filter to conversations that arrive while the filter is set', async () => {
    const filters = phone.getByRole('group', { name: 'Show' });
    const choice = filters.getByRole('combobox', { name: 'Channel' });
    const unread = () => filters.getByRole('button', { name: /^Unread/ }).allInnerTexts();
    await choice.selectOption('web');
    await seenBy(phone, () => titles(phone)).toEqual(['Harbor']);
    await seenBy(phone, unread).toEqual([]);
    const chat = 'c'.repeat(32);
    await fetch(`${scene.parley.address}/channels/web/default/messages?chat=${chat}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${scene.parley.token}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ id: 'from-elsewhere', text: 'a note about birds' }),
    });
    scene.sayAsAnn('Still here');
    await seenBy(phone, unread).toEqual(['Unread 1']);
    expect(await titles(phone)).toEqual(['a note about birds', 'Harbor']);
    await choice.selectOption('');
    await seenBy(phone, unread).toEqual(['Unread 2']);
    await row(phone, 'birds').click();
    await phone.getByRole('button', { name: 'Chat menu' }).click();
    await phone.getByRole('button', { name: 'Delete…' }).click();
    await phone.getByRole('button', { name: 'Delete', exact: true }).click();
    await seenBy(phone, () => titles(phone)).toEqual(['Ann', 'Harbor']);
    await phone.goto(`${scene.parley.address}/#/conversations`);
  });

  it('[U12] shows pending approvals and failures as soon as the gateway reports them', async () => {
    const inbox = phone
      .getByRole('navigation', { name: 'Main' })
      .getByRole('link', { name: /^Inbox/ });
    const write = { name: 'write', arguments: { path: 'notes/birds.md', text: 'Parrots talk.' } };
    scene.model.queue({ toolCalls: [write] }, 'As you like.');
    scene.sayAsAnn('Note it');
    await seenBy(phone, () => row(phone, 'Ann').getByText('Approval').count()).toBe(1);
    await seenBy(phone, () => inbox.innerText()).toMatch(/1\s+question waits/);
    const [{ code }] = (await read<Waiting>('approvals/waiting')).approvals;
    scene.sayAsAnn(`/deny ${code}`);
    await seenBy(phone, () => row(phone, 'Ann').getByText('As you like.').count()).toBe(1);
    await seenBy(phone, () => inbox.innerText()).not.toMatch(/question/);
    scene.model.fault({ kind: 'status', status: 401 });
    scene.sayAsAnn('This one fails');
    await seenBy(phone, () => row(phone, 'Ann').getByText('Failed').count()).toBe(1);
  });

  it('[U12] imports the data stored by a browser once', async () => {
    const old = await scene.browser.newContext(WIDE);
    const [{ id } = { id: '' }] = await conversations();
    await old.addInitScript(
      ([marks]) => {
        if (localStorage.getItem('was-here') !== null) return;
        localStorage.setItem('was-here', 'yes');
        localStorage.setItem('parley.inbox', String(marks));
      },
      [JSON.stringify({ pinned: [id], archived: [], names: { [id]: 'Ann of old' } })],
    );
    const page = await old.newPage();
    await page.goto(`${scene.parley.address}/#token=${scene.parley.token}`);
    await expect.poll(() => titles(page)).toEqual(['Ann of old', 'Harbor']);
    await seenBy(phone, () => titles(phone)).toEqual(['Ann of old', 'Harbor']);
    await expect.poll(() => page.evaluate("localStorage.getItem('parley.inbox')")).toBeNull();
    await old.close();
  });

  /** The conversations in the order in which the operation returns them, newest first. */
  const conversations = async () =>
    (
      await read<{ readonly conversations: readonly { readonly id: string }[] }>(
        'conversations/list',
      )
    ).conversations;
  interface Waiting {
    readonly approvals: readonly [{ readonly code: string }];
  }
  const read = async <Answer>(operation: string): Promise<Answer> => {
    const headers = { authorization: `Bearer ${scene.parley.token}` };
    const answer = await fetch(`${scene.parley.address}/api/${operation}`, { headers });
    return (await answer.json()) as Answer;
  };

  it('[U12] shows the person and the last prompt beside a chat', async () => {
    await desk.goto(`${scene.parley.address}/#/chat`);
    await row(desk, 'Ann of old').click();
    const panel = desk.getByRole('complementary', { name: 'About this chat' });
    await panel.getByRole('button', { name: 'People' }).click();
    const ann = panel.getByRole('region', { name: 'Ann' });
    await ann.getByText('telegram:501').waitFor();
    await ann.getByText('Owner').waitFor();
    await ann.getByText(/^[\d,]+ tokens$/).waitFor();
    expect(await panel.getByRole('link', { name: 'Channels and requests' }).count()).toBe(1);
    expect(await findPageFaults(desk)).toEqual([]);
    await panel.getByRole('button', { name: 'Prompt' }).click();
    await panel.getByText(/tokens in [\d,]+ characters/).waitFor();
    await panel.getByRole('link', { name: 'Open the whole prompt' }).waitFor();
    expect(await findPageFaults(desk)).toEqual([]);
    await panel.getByRole('button', { name: 'Details' }).click();
  });

  it('[U12] shows pictures and files that the agent sent to another channel', async () => {
    writeFileSync(join(scene.folder.path, 'workspace/point.png'), PNG);
    writeFileSync(join(scene.folder.path, 'workspace/plan.txt'), 'the plan');
    const send = (file: string) => ({ name: 'send_file', arguments: { file } });
    scene.model.queue({ toolCalls: [send('point.png'), send('plan.txt')] }, 'Two files.');
    scene.sayAsAnn('Send me both');
    const talk = desk.getByRole('list', { name: 'Messages' });
    await talk.getByRole('img', { name: 'point.png' }).waitFor();
    const saved = desk.waitForEvent('download');
    await talk.getByRole('button', { name: /plan\.txt/ }).press('Enter');
    expect(await text(await (await saved).createReadStream())).toBe('the plan');
    const [{ id } = { id: '' }] = await conversations();
    const path = `${scene.parley.address}/api/conversations/${encodeURIComponent(id)}/sent`;
    const headers = { authorization: `Bearer ${scene.parley.token}` };
    expect((await fetch(`${path}/1`)).status).toBe(401);
    expect((await fetch(`${path}/x`, { headers })).status).toBe(404);
    // A message part from another chat is not accessible under this chat.
    expect((await fetch(`${path}/1`, { headers })).status).toBe(404);
  });

  it('[U12] deletes a conversation while its turn runs, says what is lost, and opens the next one', async () => {
    await desk.goto(`${scene.parley.address}/#/chat`);
    await row(desk, 'Ann of old').click();
    scene.model.pauseBehind('Word 3.');
    scene.model.queue({ text: Array.from({ length: 90 }, (_, index) => `Word ${index + 1}. `) });
    scene.sayAsAnn('Go on and on');
    await row(desk, 'Ann of old').getByText('Running').waitFor();
    await menu('Delete…');
    const question = desk.getByRole('group', { name: 'Delete this conversation?' });
    await question.getByText('This deletes 8 messages and 5 answers').waitFor();
    await question.getByText('stays visible in the other app').waitFor();
    expect(await findPageFaults(desk)).toEqual([]);
    await question.getByRole('button', { name: 'Delete', exact: true }).click();
    await field(desk).waitFor();
    await expect.poll(() => titles(desk)).toEqual(['Harbor']);
    await seenBy(phone, () => titles(phone)).toEqual(['Harbor']);
    const search = desk.getByRole('searchbox', { name: 'Search in all conversations' });
    await search.fill('news');
    await desk.getByText('No results').waitFor();
    await search.fill('');
    scene.sayAsAnn('Are you there?');
    await row(desk, 'Ann').getByText('You said: Are you there?').waitFor();
    await row(desk, 'Ann').click();
    const messages = desk.getByRole('list', { name: 'Messages' }).getByRole('article');
    await expect.poll(() => messages.allInnerTexts()).toHaveLength(2);
  });

  it('[U12] deletes the open chat, which is empty when it is opened again', async () => {
    await row(desk, 'Harbor').click();
    await untilAnswer(desk, 'You said: a note about ships');
    await menu('Delete…');
    await desk.getByRole('button', { name: 'Delete', exact: true }).click();
    await desk.getByRole('heading', { name: 'Ann', exact: true }).waitFor();
    await expect.poll(() => titles(desk)).toEqual(['Ann', 'First chat']);
    await row(desk, 'First chat').click();
    await desk.getByRole('heading', { name: /Say hello to/ }).waitFor();
  });

  it('[U08] keeps a channel selected after its last conversation was deleted', async () => {
    const choice = phone.getByRole('combobox', { name: 'Channel' });
    await choice.selectOption('telegram');
    await seenBy(phone, () => titles(phone)).toEqual(['Ann']);
    await row(desk, 'Ann').click();
    await menu('Delete…');
    await desk.getByRole('button', { name: 'Delete', exact: true }).click();
    await seenBy(phone, () => phone.getByText('Nothing here.').count()).toBe(1);
    await choice.selectOption('');
    await seenBy(phone, () => titles(phone)).toEqual(['First chat']);
  });
});
