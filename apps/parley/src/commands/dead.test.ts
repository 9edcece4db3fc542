import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '@parley/store';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DataFolder, locateDataFolder } from '../data-folder.ts';
import { type DeadWork, dead } from './dead.ts';

const CHAT = { channel: 'telegram', account: 'default', chatId: '5' };
const route = { ...CHAT, target: { dialect: 'plain', maxLength: 4_096, unit: 'utf16' } } as const;

let folder: DataFolder;
beforeEach(() => {
  folder = locateDataFolder(mkdtempSync(join(tmpdir(), 'parley-dead-')), {});
});
afterEach(() => rmSync(folder.path, { recursive: true, force: true }));

async function giveUp(...texts: readonly string[]): Promise<void> {
  const store = await openStore({ url: folder.storeUrl, clock: Date.now });
  for (const text of texts) {
    await store.outbox.enqueue([{ route, body: { text, plain: text } }], 0);
    const id = (await store.outbox.next(CHAT))?.part.id ?? '';
    await store.outbox.markSending(id, 1);
    await store.outbox.giveUp(id, 'failed', 'blocked', 1, null);
  }
  await store.close();
}
async function run(command: DeadWork) {
  const lines: string[] = [];
  const code = await dead({ folder, env: {}, print: (text) => lines.push(text) }, command);
  return { code, out: lines.join('\n') };
}
const settle = (action: 'replay' | 'drop', ids: readonly string[], more: object = {}) =>
  run({ action, ids, ...more });

describe('parley dead where nothing runs', () => {
  it('[D06] works on the database, and says when it is carried out', async () => {
    await giveUp('a', 'b');
    expect((await run({ action: 'list', last: '1' })).out).toMatch(
      /^2 {2}1970-01-01 .* refused {2}telegram:5\n {4}because: blocked\n {4}\| b\nOlder ones: parley dead list --before 2\n2 refused/,
    );
    expect((await run({ action: 'list', last: '9', before: '2' })).out).toContain('| a');
    expect(await settle('replay', ['#1'])).toEqual({
      code: 0,
      out: 'Replayed: 1. Parley does not run here; it is done as soon as it does.',
    });
    expect((await run({ action: 'show', id: '1' })).out).toContain('now: pending');
    expect(await settle('drop', [], { all: true })).toEqual({ code: 0, out: 'Dropped: 2.' });
  });

  it('[D06] names the nearest letter for one that is not there', async () => {
    await giveUp('a', 'b');
    const out = 'There is no dead letter 7. Did you mean 2?';
    expect(await settle('replay', ['7'])).toEqual({ code: 1, out });
    expect(await run({ action: 'show', id: '7' })).toEqual({ code: 1, out });
  });

  it('[D06] lets no text command the terminal', async () => {
    await giveUp('\u001b]0;owned\u0007red \u001b[31malert');
    const { out } = await run({ action: 'list', last: '5' });
    expect(out).toContain('red alert');
    expect(out).not.toContain('\u001b');
  });

  it('[D06] speaks JSON to programs', async () => {
    await giveUp('a');
    const list = await run({ action: 'list', last: '5', json: true });
    expect(JSON.parse(list.out)).toMatchObject({ letters: [{ id: 1, text: 'a' }], next: null });
    const drop = await settle('drop', ['1', '2'], { json: true });
    expect(JSON.parse(drop.out)).toEqual({
      results: [
        { id: 1, result: 'dropped' },
        { id: 2, result: 'missing' },
      ],
    });
    expect(drop.code).toBe(1);
  });

  it.each<[string, readonly string[], object, string]>([
    ['nothing', [], {}, 'Say which'],
    ['two things at once', ['1'], { all: true }, 'Say which'],
    ['a word', ['last'], {}, 'A number such as 17'],
    ['an odd kind', [], { all: true, kind: 'odd' }, 'There is no kind "odd"'],
    ['a kind of numbers', ['1'], { kind: 'refused' }, '--kind goes with --all'],
  ])('[D06] does nothing for %s', async (_case, ids, more, words) => {
    await expect(settle('drop', ids, more)).rejects.toThrow(words);
  });
});
