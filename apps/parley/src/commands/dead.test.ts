import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '@parley/store';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type DataFolder, locateDataFolder } from '../data-folder.ts';
import { main } from '../main.ts';
import { type CapturedOutput, captureOutput } from '../testing/captured-output.ts';

const CHAT = { channel: 'telegram', account: 'default', chatId: '5' };
const route = { ...CHAT, target: { dialect: 'plain', maxLength: 4_096, unit: 'utf16' } } as const;

let folder: DataFolder;
let written: CapturedOutput;
beforeEach(() => {
  written = captureOutput();
  folder = locateDataFolder(mkdtempSync(join(tmpdir(), 'parley-dead-')), {});
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder.path, { recursive: true, force: true });
});

async function failPart(...texts: readonly string[]): Promise<void> {
  const store = await openStore({ url: folder.storeUrl, clock: Date.now });
  for (const text of texts) {
    await store.outbox.enqueue([{ route, body: { text, plain: text } }], 0);
    const id = (await store.outbox.next(CHAT))?.part.id ?? '';
    await store.outbox.markSending(id, 1);
    await store.outbox.markFailed(id, 'failed', 'blocked', 1, null);
  }
  await store.close();
}
async function run(...args: readonly string[]) {
  written.out = '';
  const code = await main(['--data', folder.path, 'dead', ...args]);
  return { code, out: written.out.trimEnd() };
}

describe('parley dead without a running gateway', () => {
  it('[D06] changes the database, and reports when the change takes effect', async () => {
    await failPart('a', 'b');
    expect((await run('list', '--limit', '1')).out).toMatch(
      /^2 {2}1970-01-01 .* refused {2}telegram:5\n {4}because: blocked\n {4}\| b\nTo list older ones, run: parley dead list --before 2\n2 refused/,
    );
    expect((await run('list', '--limit', '9', '--before', '2')).out).toContain('| a');
    expect(await run('replay', '#1')).toEqual({
      code: 0,
      out: 'Replayed: 1. Parley is not running here; this happens when it starts.',
    });
    expect((await run('show', '1')).out).toContain('now: pending');
    expect(await run('drop', '--all')).toEqual({ code: 0, out: 'Dropped: 2.' });
  });

  it('[D06] suggests the nearest number when a dead letter does not exist', async () => {
    await failPart('a', 'b');
    const out = 'There is no dead letter 7. Did you mean 2?';
    expect(await run('replay', '7')).toEqual({ code: 1, out });
    expect(await run('show', '7')).toEqual({ code: 1, out });
  });

  it('[D06] escapes terminal control characters', async () => {
    await failPart('\u001b]0;owned\u0007red \u001b[31malert');
    const { out } = await run('list', '--limit', '5');
    expect(out).toContain('red alert');
    expect(out).not.toContain('\u001b');
  });

  it('[D06] prints JSON for programs', async () => {
    await failPart('a');
    const list = await run('list', '--limit', '5', '--json');
    expect(JSON.parse(list.out)).toMatchObject({ letters: [{ id: 1, text: 'a' }], next: null });
    const drop = await run('drop', '1', '2', '--json');
    expect(JSON.parse(drop.out)).toEqual({
      results: [
        { id: 1, result: 'dropped' },
        { id: 2, result: 'missing' },
      ],
    });
    expect(drop.code).toBe(1);
  });

  it.each<[string, readonly string[], string]>([
    ['nothing', [], 'name the dead letters'],
    ['both numbers and --all', ['1', '--all'], 'name the dead letters'],
    ['a word', ['last'], 'Use a number such as 17'],
    ['an unknown kind', ['--all', '--kind', 'odd'], 'refused, uncertain, unanswered'],
    [
      'a kind together with numbers',
      ['1', '--kind', 'refused'],
      '--kind can only be used with --all',
    ],
  ])('[D06] leaves everything unchanged for %s', async (_case, args, words) => {
    await failPart('a');
    expect((await run('drop', ...args)).code).toBe(2);
    expect(written.err).toContain(words);
    expect((await run('list')).out).toContain('1 refused');
  });
});
