import type { SentPart } from '@parley/core';
import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { defineDynamicStatement, parseStoreUrl } from './database.ts';
import { createKnownHashes } from './known-hashes.ts';
import { openStore } from './open-store.ts';
import { openPostgres } from './postgres/open-postgres.ts';
import type { NewPrompt } from './prompt-rows.ts';
import { createPartsSerializer, hashText, toPromptRow, toStoredPrompt } from './prompt-rows.ts';
import { openSqlite } from './sqlite/open-sqlite.ts';
import type { Store } from './store.ts';
import { TEXT_KNOWN_MS } from './tables/turns.ts';
import { listBothDatabases, type TestDatabase } from './testing/databases.ts';

const DAY = 24 * 60 * 60_000;

function part(text: string, change: Partial<SentPart> = {}): SentPart {
  return {
    layer: 'soul-file',
    placement: 'system',
    source: 'SOUL.md',
    audience: { kind: 'everyone' },
    stable: true,
    cut: null,
    tokens: Math.ceil(text.length / 4),
    text,
    ...change,
  };
}

function prompt(turnId: string, texts: readonly string[], change: Partial<NewPrompt> = {}) {
  return {
    turnId,
    conversationId: 'discord:default:g1',
    at: 10 * DAY,
    layout: 'parley',
    model: 'test/model',
    place: {
      channel: 'discord',
      account: 'default',
      chatId: 'g1',
      chatType: 'group',
      title: 'Crew',
      personId: 'discord:7',
      personName: 'Ada 🦜',
    },
    messageIds: [`m-${turnId}`],
    parts: texts.map((text) => part(text)),
    unsent: [{ layer: 'memory', placement: 'system', outcome: 'absent', reason: 'not for guests' }],
    tools: ['read'],
    messages: [{ role: 'user', content: 'hello', tokens: 2 }],
    ...change,
  } satisfies NewPrompt;
}

for (const database of listBothDatabases(inject('postgresUrl'))) {
  describe.runIf(database.available)(`recorded prompts on ${database.name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await database.openEmpty();
    });
    afterAll(() => database.dispose());
    const listed = async (search: Partial<Parameters<Store['prompts']['list']>[0]> = {}) =>
      (await store.prompts.list({ limit: 50, ...search })).map(({ turnId }) => turnId);

    it('[P17] returns prompts word for word, with sizes, audiences and omitted layers', async () => {
      const hostile = 'NUL \u0000, half a parrot \ud83e, “quotes” and 中文\n'.repeat(3);
      const recorded = prompt('t1', [], {
        parts: [
          part(hostile, { audience: { kind: 'owner' }, cut: { shown: 5, total: 9 } }),
          part('', { placement: 'user', stable: false }),
        ],
        unsent: [
          { layer: 'a', placement: 'user', outcome: 'failed', reason: 'no' },
          {
            layer: 'b',
            placement: 'system',
            outcome: 'withheld',
            source: 'MEMORY.md',
            audience: { kind: 'conversation', conversationId: 'c' },
          },
        ],
      });
      await store.prompts.record(recorded);
      const found = await store.prompts.ofTurn('t1');
      expect(found).toMatchObject({
        ...recorded,
        messages: [{ role: 'user', characters: 5, tokens: 2 }],
        sections: [{ name: 'system' }, { name: 'context' }, { name: 'message' }],
      });
      expect(found?.characters).toBe(hostile.length + 5);
      expect(JSON.stringify(found?.messages)).not.toContain('hello');
      expect(await store.prompts.ofTurn('t2')).toBeNull();
    });

    it('[P17] stores text that several prompts share only once', async () => {
      await store.prompts.record(prompt('t1', ['same', 'same', 'one']));
      await store.prompts.record(prompt('t2', ['same', 'two']));
      expect(await textsIn(database)).toEqual(['one', 'same', 'two']);
      expect((await store.prompts.ofTurn('t2'))?.parts.map(({ text }) => text)).toEqual([
        'same',
        'two',
      ]);
    });

    it('[P17] records the prompts of two turns that share text and run at the same moment', async () => {
      const texts = Array.from({ length: 30 }, (_, index) => `text ${index}`);
      await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          store.prompts.record(prompt(`t${index}`, index % 2 ? texts : texts.toReversed())),
        ),
      );
      expect(await listed()).toHaveLength(8);
      expect(await textsIn(database)).toHaveLength(30);
    });

    it('[P17] keeps the prompt of the last run if a turn ran again', async () => {
      await store.prompts.record(prompt('t1', ['before']));
      await store.prompts.record(prompt('t1', ['after'], { layout: 'zeus' }));
      expect(await store.prompts.ofTurn('t1')).toMatchObject({
        layout: 'zeus',
        parts: [{ text: 'after' }],
      });
      expect(await listed()).toEqual(['t1']);
    });

    it('[P17] lists prompts newest first, page by page, even if some have the same time', async () => {
      const ages = [1, 2, 2, 2, 3];
      for (const [index, at] of ages.entries()) {
        await store.prompts.record(prompt(`t${index}`, ['x'], { at }));
      }
      expect(await listed({ limit: 2 })).toEqual(['t4', 't3']);
      expect(await listed({ limit: 2, before: { at: 2, turnId: 't3' } })).toEqual(['t2', 't1']);
      expect(await listed({ limit: 2, before: { at: 2, turnId: 't1' } })).toEqual(['t0']);
    });

    it('[P17] finds prompts by conversation, chat and message, matched literally', async () => {
      await store.prompts.record(prompt('t1', ['x'], { messageIds: ['10%', 'a"b'] }));
      const elsewhere = { ...prompt('t2', ['x']).place, chatId: 'g2' };
      await store.prompts.record(
        prompt('t2', ['x'], { messageIds: ['100'], place: elsewhere, conversationId: 'c2' }),
      );
      expect(await listed({ chat: 'g1' })).toEqual(['t1']);
      expect(await listed({ chat: 'c2' })).toEqual(['t2']);
      expect(await listed({ messageId: '10%' })).toEqual(['t1']);
      expect(await listed({ messageId: 'a"b' })).toEqual(['t1']);
      expect(await listed({ messageId: '10' })).toEqual([]);
      expect(await listed({ messageId: '100', chat: 'g1' })).toEqual([]);
    });

    /** Runs retention to drop prompts recorded before the given time. */
    const forget = (before: number) => {
      const now = 100 * DAY;
      const forever = Number.POSITIVE_INFINITY;
      const others = { messages: forever, history: forever, decisions: forever, spend: forever };
      const ages = { ...others, prompts: Math.max(0, now - before) };
      return store.retention.run(
        { ages, bytes: forever },
        { clock: () => now, countFrom: now, pause: async () => true },
      );
    };

    it('[P17] drops prompts when they are old, and their text once no prompt refers to it', async () => {
      await store.prompts.record(prompt('old', ['same', 'gone'], { at: DAY }));
      // Text that was used within the last hour is cached as stored, so its row is not written
      // again.
      await store.prompts.record(prompt('late', ['same'], { at: DAY + 30 * 60_000 }));
      await store.prompts.record(prompt('new', ['new'], { at: 5 * DAY }));
      await forget(DAY + 1);
      expect(await listed()).toEqual(['new', 'late']);
      expect((await store.prompts.ofTurn('late'))?.parts).toMatchObject([{ text: 'same' }]);
      await forget(3 * DAY);
      expect(await listed()).toEqual(['new']);
      expect(await textsIn(database)).toEqual(['new']);
      await store.prompts.record(prompt('again', ['same'], { at: 5 * DAY }));
      expect((await store.prompts.ofTurn('again'))?.parts).toMatchObject([{ text: 'same' }]);
      await forget(Number.MAX_SAFE_INTEGER);
      expect(await textsIn(database)).toEqual([]);
    });

    it('[P17] keeps text for days while turns use it', async () => {
      for (let day = 1; day <= 9; day += 1) {
        await store.prompts.record(prompt(`t${day}`, ['standing'], { at: day * DAY }));
        await forget((day - 7) * DAY);
      }
      for (const turnId of await listed()) {
        expect((await store.prompts.ofTurn(turnId))?.parts).toMatchObject([{ text: 'standing' }]);
      }
    });

    it('[P17] drops a large number of prompts in steps', async () => {
      await Promise.all(
        Array.from({ length: 450 }, (_, index) =>
          store.prompts.record(prompt(`t${index}`, [`text ${index}`], { at: index })),
        ),
      );
      await forget(440);
      expect(await listed()).toHaveLength(10);
    });
  });
}

it('[P17] reads prompts from an older version without token counts for messages', () => {
  const row = toPromptRow(prompt('t1', []), hashText, createPartsSerializer(hashText));
  const old = { ...row, messages: JSON.stringify([['user', 5, 'hash']]) };
  expect(toStoredPrompt(old, () => '').messages).toEqual([
    { role: 'user', characters: 5, tokens: 0, hash: 'hash' },
  ]);
});

/** The texts stored in the database, in alphabetical order. */
async function textsIn(database: TestDatabase): Promise<readonly unknown[]> {
  const address = parseStoreUrl(database.url());
  const look = address.dialect === 'sqlite' ? openSqlite(address) : await openPostgres(address);
  try {
    const texts = defineDynamicStatement('select content from prompt_text').rows<{
      content: string;
    }>();
    const rows = await look.read((sql) => sql.all(texts));
    return rows.map(({ content }): unknown => JSON.parse(content)).sort();
  } finally {
    await look.close();
  }
}

const postgresUrl = inject('postgresUrl');

describe.runIf(postgresUrl)('recorded prompts of several processes', () => {
  it('[P17] [D09] stores complete prompts even if another process removed phrases from a shared text', async () => {
    const databases = listBothDatabases(postgresUrl).filter(({ name }) => name === 'PostgreSQL');
    for (const database of databases) {
      const here = await database.openEmpty();
      const there = await openStore({ url: database.url(), clock: () => 0 });
      await here.prompts.record(prompt('t1', ['my secret garden', 'shared']));
      await there.forgetting.forget({
        conversations: ['discord:default:g1'],
        ownersToo: false,
        phrases: ['secret'],
      });
      await here.prompts.record(prompt('t2', ['my secret garden', 'shared']));
      const texts = (await here.prompts.ofTurn('t2'))?.parts.map(({ text }) => text);
      expect(texts).toEqual(['my secret garden', 'shared']);
      await there.close();
      await database.dispose();
    }
  });
});

describe('cached hashes', () => {
  it('[P17] caches hashes for an hour only, so that the rows of text in use are refreshed', () => {
    const known = createKnownHashes();
    known.add(['a'], 0);
    expect(known.has('a', TEXT_KNOWN_MS - 1)).toBe(true);
    expect(known.has('a', TEXT_KNOWN_MS)).toBe(false);
    expect(known.has('b', 0)).toBe(false);
  });

  it('[P17] evicts the oldest hashes when the cache is full', () => {
    const known = createKnownHashes();
    known.add(['first', 'again'], 0);
    known.add(['again'], 1);
    known.add(
      Array.from({ length: 1_999 }, (_, index) => `h${index}`),
      2,
    );
    expect(known.has('first', 2)).toBe(false);
    expect(known.has('again', 2)).toBe(true);
  });
});
