import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AdmittedMessage, openStore } from '@parley/store';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type DataFolder, locateDataFolder } from '../data-folder.ts';
import { main } from '../main.ts';
import { type CapturedOutput, captureOutput } from '../testing/captured-output.ts';

const PLACE = { channel: 'web', account: 'default' };
const FROM_ADA: AdmittedMessage = {
  conversationId: 'web:c1',
  receivedAt: 0,
  route: { ...PLACE, chatId: 'c1', target: { dialect: 'plain', maxLength: 100, unit: 'utf16' } },
  message: {
    ...{ ...PLACE, messageId: 'm1', text: 'hello' },
    chat: { id: 'c1', type: 'direct' },
    sender: { id: 'u1', name: 'Ada 🦜', isBot: false },
    ...{ mentions: [], addressed: true, sentAt: 0, variables: {} },
  },
};

let folder: DataFolder;
let written: CapturedOutput;
beforeEach(async () => {
  written = captureOutput();
  folder = locateDataFolder(mkdtempSync(join(tmpdir(), 'parley-conversations-')), {});
  const store = await openStore({ url: folder.storeUrl, clock: Date.now });
  await store.inbox.accept(FROM_ADA);
  await store.close();
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder.path, { recursive: true, force: true });
});

async function run(...args: readonly string[]) {
  written.out = '';
  const code = await main(['--data', folder.path, 'conversations', ...args]);
  return { code, out: written.out.trimEnd() };
}

describe('parley conversations without a running gateway', () => {
  it('[U12] takes over a conversation, writes into it, hands it back and lists the takeover', async () => {
    expect((await run()).out).toMatch(/web:c1 +Ada 🦜 +waiting, 1 message waiting/);
    expect(await run('take-over', 'web:c1', '--minutes', '30')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^The agent is silent there until /),
    });
    expect((await run('list')).out).toMatch(
      /taken over by The owner for (30 min|29 min \d+ s) more, 1 message waiting/,
    );
    expect(await run('reply', 'web:c1', 'I am here', '--as', 'agent')).toEqual({
      code: 0,
      out: 'The message is queued; the agent will no longer answer 1 message.',
    });
    expect((await run('hand-back', 'web:c1')).out).toBe('The agent answers there again.');
    expect((await run('hand-back', 'web:c1')).out).toBe(
      'No person had taken over that conversation.',
    );
    const { out } = await run('takeovers');
    expect(out).toMatch(/Ada 🦜: The owner took it over; The owner ended it/);
    expect(out).toMatch(/Ada 🦜: The owner wrote in the name of the agent/);
    const { entries } = JSON.parse((await run('takeovers', '--json')).out);
    expect(entries).toHaveLength(2);
  });

  it('[U12] refuses a conversation that does not exist', async () => {
    expect(await run('take-over', 'web:none')).toEqual({
      code: 1,
      out: 'There is no such conversation; it may have been deleted or forgotten.',
    });
  });
});
