import { createRecordingLogger } from '@parley/core/testing';
import type { DeadLetterWake, Store } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type InputOf, type OperationServices, performOperation } from './operations.ts';

const CHAT = { channel: 'telegram', account: 'work', chatId: '5' };
const route = { ...CHAT, target: { dialect: 'plain', maxLength: 4_096, unit: 'utf16' } } as const;

let store: Store;
let services: OperationServices;
let woken: DeadLetterWake[];
let isQueueDown: boolean;
let lines: readonly string[];
beforeEach(async () => {
  store = await openMemoryStore({ clock: () => 0 });
  const { log, lines: logged } = createRecordingLogger();
  lines = logged;
  woken = [];
  isQueueDown = false;
  services = {
    ...{ store, log, clock: () => 7, defaultAgent: 'main', scrub: (text) => text },
    wake: async (wake) => {
      if (isQueueDown) throw new Error('no Redis');
      woken.push(wake);
    },
  } as Partial<OperationServices> as OperationServices;
});
afterEach(() => store.close());

async function failPart(text: string, state: 'failed' | 'unknown' = 'failed'): Promise<void> {
  await store.outbox.enqueue([{ route, body: { text, plain: text } }], 0);
  const id = (await store.outbox.next(CHAT))?.part.id ?? '';
  await store.outbox.markSending(id, 1);
  await store.outbox.markFailed(id, state, 'blocked', 1, null);
}
const CALL = { caller: { name: 'Ann', role: 'owner' } } as const;
type Order = InputOf<'dead/settle'>;
const settle = (order: Order) => performOperation(services, 'dead/settle', order, CALL);
const list = (input: object) => performOperation(services, 'dead/list', input, CALL);
const letter = async (id: number) =>
  (await performOperation(services, 'dead/show', { id }, CALL)).letter;

describe('dead letters', () => {
  it('[D06] show the beginning of their text in lists, and the full text in the detail view', async () => {
    await failPart('long '.repeat(100));
    const { letters, counts, next } = await list({ limit: 5 });
    expect(letters).toMatchObject([{ chat: 'telegram/work:5', reason: 'blocked', part: null }]);
    expect(letters[0] && 'text' in letters[0] && letters[0].text).toHaveLength(301);
    expect(counts).toEqual({ refused: 1, uncertain: 0, unanswered: 0 });
    expect(next).toBeNull();
    expect(await letter(letters[0]?.id ?? 0)).toMatchObject({ text: 'long '.repeat(100) });
    expect(await letter(99)).toBeNull();
  });

  it('[D06] are replayed in the order of their failures, and the chat is woken', async () => {
    await failPart('a');
    await failPart('b');
    const { letters } = await list({ limit: 5 });
    const ids = letters.map(({ id }) => id);
    const { results } = await settle({ action: 'replay', letters: [...ids, 99] });
    expect(results.map(({ result }) => result)).toEqual(['replayed', 'replayed', 'missing']);
    expect(woken).toEqual([
      { kind: 'chat', chat: CHAT },
      { kind: 'chat', chat: CHAT },
    ]);
    expect((await store.outbox.next(CHAT))?.part.body.text).toBe('a');
  });

  it('[D06] are all replayed except message parts that may have arrived, which require an explicit option', async () => {
    await failPart('a');
    await failPart('b', 'unknown');
    expect(await settle({ action: 'replay', letters: { after: 0 } })).toMatchObject({
      results: [{ result: 'replayed' }],
      next: null,
    });
    const only: Order = { action: 'replay', letters: { after: 0, kinds: ['uncertain'] } };
    expect(await settle(only)).toEqual({ results: [], next: null });
    expect((await settle({ ...only, evenTwice: true })).results).toHaveLength(1);
  });

  it('[D06] can be dropped individually or all at once, and only once', async () => {
    await failPart('a');
    await failPart('b', 'unknown');
    const all: Order = { action: 'drop', letters: { after: 0 } };
    expect((await settle(all)).results.map(({ result }) => result)).toEqual(['dropped', 'dropped']);
    expect((await settle(all)).results).toEqual([]);
    expect(woken).toEqual([]);
  });

  it('[D06] are replayed even if no process can be woken', async () => {
    await failPart('a');
    isQueueDown = true;
    const { results } = await settle({ action: 'replay', letters: { after: 0 } });
    expect(results).toMatchObject([{ result: 'replayed' }]);
    expect(lines.join()).toContain('no Redis');
  });

  it.each<[object, number | null, number]>([
    [{}, null, 3],
    [{ limit: '2' }, 2, 2],
    [{ limit: '5', before: '3' }, null, 2],
  ])('[D06] are listed in pages for the query %j', async (query, next, count) => {
    for (const text of ['a', 'b', 'c']) await failPart(text);
    const page = await list(query);
    expect([page.next, page.letters.length]).toEqual([next, count]);
  });

  it.each([
    ['list', { limit: 0 }],
    ['list', { limit: 51 }],
    ['list', { before: 'x' }],
    ['show', { id: -1 }],
    ['settle', undefined],
    ['settle', {}],
    ['settle', { action: 'burn', letters: [1] }],
    ['settle', { action: 'drop' }],
    ['settle', { action: 'drop', letters: [] }],
    ['settle', { action: 'drop', letters: ['1'] }],
    ['settle', { action: 'drop', letters: { after: 0, kinds: [] } }],
    ['settle', { action: 'replay', letters: [1], evenTwice: 'yes' }],
  ])('[D06] stay unchanged when dead/%s rejects %j', async (name, input) => {
    await failPart('a');
    const asked = performOperation(services, `dead/${name}`, input, CALL);
    await expect(asked).rejects.toMatchObject({ code: 'wrong-input' });
    expect((await list({})).letters).toHaveLength(1);
  });
});
