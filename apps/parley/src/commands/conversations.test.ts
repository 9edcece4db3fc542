import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AdmittedMessage, openStore } from '@parley/store';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type DataFolder, locateDataFolder } from '../data-folder.ts';
import { main } from '../main.ts';
import { type CapturedOutput, captureOutput } from '../testing/captured-output.ts';

const PLACE = { channel: 'web', account: 'default' };
function messageFrom(conversationId: string, chatId: string, name: string): AdmittedMessage {
  return {
    ...{ conversationId, receivedAt: 0 },
    route: { ...PLACE, chatId, target: { dialect: 'plain', maxLength: 100, unit: 'utf16' } },
    message: {
      ...{ ...PLACE, messageId: 'm1', text: 'hello' },
      chat: { id: chatId, type: 'direct' },
      sender: { id: 'u1', name, isBot: false },
      ...{ mentions: [], addressed: true, sentAt: 0, variables: {} },
    },
  };
}

let folder: DataFolder;
let written: CapturedOutput;
beforeEach(async () => {
  written = captureOutput();
  folder = locateDataFolder(mkdtempSync(join(tmpdir(), 'parley-conversations-')), {});
  await accept('web:c1', 'c1', 'Ada 🦜');
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder.path, { recursive: true, force: true });
});

async function accept(...from: Parameters<typeof messageFrom>): Promise<void> {
  const store = await openStore({ url: folder.storeUrl, clock: Date.now });
  await store.inbox.accept(messageFrom(...from));
  await store.close();
}

async function run(...args: readonly string[]) {
  written.out = '';
  written.err = '';
  const code = await main(['--data', folder.path, 'conversations', ...args]);
  return { code, out: written.out.trimEnd(), err: written.err.trimEnd() };
}

const MISSING = 'There is no such conversation; it may have been deleted.';

describe('parley conversations without a running gateway', () => {
  it('[U12] takes over a conversation, writes into it, hands it back and lists the takeover', async () => {
    expect((await run()).out).toMatch(/web:c1 +Ada 🦜 +waiting, 1 message waiting/);
    expect(await run('take-over', 'web:c1', '--minutes', '30')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^The agent stays silent in that conversation until /),
    });
    expect((await run('list')).out).toMatch(
      /taken over by The owner for another (30 min|29 min \d+ s), 1 message waiting/,
    );
    expect(await run('reply', 'web:c1', 'I am here', '--as', 'agent')).toEqual({
      code: 0,
      out: 'The message is queued; the agent will no longer answer 1 message.',
      err: '',
    });
    expect((await run('hand-back', 'web:c1')).out).toBe(
      'The agent answers in that conversation again.',
    );
    expect((await run('hand-back', 'web:c1')).out).toBe('That conversation was not taken over.');
    const { out } = await run('takeovers');
    expect(out).toMatch(/Ada 🦜: The owner took it over; The owner ended it/);
    expect(out).toMatch(/Ada 🦜: The owner wrote in the agent's name/);
    const { entries } = JSON.parse((await run('takeovers', '--json')).out);
    expect(entries).toHaveLength(2);
  });

  it('[U08] lists conversations page by page, newest first, also as JSON', async () => {
    await accept('web:c2', 'c2', 'Ben');
    const first = await run('list', '-n', '1');
    expect(first).toMatchObject({ code: 0, err: '' });
    expect(first.out).toMatch(/web:c2 +Ben +waiting, 1 message waiting\nTo list older ones, run: /);
    expect(first.out).not.toContain('web:c1');
    const [, before = ''] = /parley conversations list --before (\d+)$/.exec(first.out) ?? [];
    const second = await run('list', '-n', '1', '--before', before);
    expect(second.out).toMatch(/web:c1 +Ada/);
    expect(second.out).not.toContain('web:c2');
    const { conversations } = JSON.parse((await run('list', '--json')).out);
    expect(conversations).toMatchObject([{ id: 'web:c2' }, { id: 'web:c1' }]);
  });

  it('[U12] renames a conversation in the list and restores its original title', async () => {
    const { out } = await run('rename', 'web:c1', 'Harbor\u001b[2J');
    expect(out).toBe('The conversation is now named Harbor.');
    expect((await run()).out).toMatch(/web:c1 +Harbor/);
    expect((await run('rename', 'web:c1')).out).toBe(
      'The conversation has its original title again.',
    );
    expect((await run()).out).toMatch(/web:c1 +Ada 🦜/);
  });

  it('[U12] pins, archives and marks a conversation, and undoes each change', async () => {
    const said = async (...args: readonly string[]) => (await run(...args, 'web:c1')).out;
    const marks = async () => JSON.parse((await run('--json')).out).marks;
    expect(await said('pin')).toBe('Pinned.');
    expect(await said('archive')).toBe('Archived.');
    expect(await marks()).toEqual([
      { id: 'web:c1', title: null, isPinned: true, isArchived: true },
    ]);
    expect(await said('pin', '--off')).toBe('No longer pinned.');
    expect(await said('archive', '--off')).toBe('The conversation is back in the inbox.');
    expect(await marks()).toEqual([]);
    expect(await said('mark-read')).toBe('Read.');
    expect(await said('mark-read', '--off')).toBe('Unread.');
  });

  it('[U12] deletes a conversation only with --yes, and otherwise lists what would be lost', async () => {
    const asked = await run('delete', 'web:c1');
    expect(asked).toMatchObject({ code: 0, err: '' });
    expect(asked.out).toMatch(/^This would delete 1 message and 0 answers for everyone/);
    expect(asked.out).toContain('"parley conversations delete web:c1 --yes"');
    expect((await run()).out).toContain('web:c1');
    expect(await run('delete', 'web:c1', '--yes')).toEqual({
      code: 0,
      out: 'Deleted 1 message with everything that belongs to them.',
      err: '',
    });
    expect((await run()).out).toBe('No conversations.');
    expect(await run('delete', 'web:c1', '--yes')).toEqual({ code: 1, out: MISSING, err: '' });
  });

  it('[U12] reports that the details of a conversation need a running gateway', async () => {
    const { code, out } = await run('show', 'web:c1');
    expect(code).toBe(3);
    expect(out).toContain(`No gateway is running on ${folder.path}.`);
  });

  it('[U12] refuses a conversation that does not exist', async () => {
    for (const args of [
      ['take-over', 'web:none'],
      ['hand-back', 'web:none'],
      ['reply', 'web:none', 'Hi'],
      ['rename', 'web:none', 'Harbor'],
      ['pin', 'web:none'],
      ['archive', 'web:none'],
      ['mark-read', 'web:none'],
      ['delete', 'web:none'],
      ['delete', 'web:none', '--yes'],
    ]) {
      expect([args, await run(...args)]).toEqual([args, { code: 1, out: MISSING, err: '' }]);
    }
  });

  it("[U02] refers to the command's help on stderr if the command is misused", async () => {
    const longId = 'x'.repeat(701);
    for (const args of [
      ['show'],
      ['delete'],
      ['rename'],
      ['rename', longId, 'Harbor'],
      ['delete', longId],
      ['rename', 'web:c1', 'x'.repeat(81)],
      ['delete', 'web:c1', 'web:c2'],
      ['list', '-n', '51'],
      ['list', '--before', 'x'],
      ['reply', 'web:c1', 'Hi', '--as', 'king'],
    ]) {
      const { code, out, err } = await run(...args);
      expect([args, code, out]).toEqual([args, 2, '']);
      expect(err.split('\n').at(-1)).toBe(`See "parley conversations ${args[0]} --help".`);
    }
    expect((await run()).out).toMatch(/web:c1 +Ada 🦜/);
  });
});
