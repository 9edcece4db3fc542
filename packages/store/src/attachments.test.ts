import type { Attachment } from '@parley/core';
import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { defineDynamicStatement, parseStoreUrl } from './database.ts';
import { openPostgres } from './postgres/open-postgres.ts';
import type { AdmittedMessage } from './rows.ts';
import { openSqlite } from './sqlite/open-sqlite.ts';
import type { Store } from './store.ts';
import { TABLE_LIST } from './tables.ts';
import { listBothDatabases } from './testing/databases.ts';
import { createAnswer, createMessage, listMessageIds, startTurn } from './testing/messages.ts';

const PHOTO: Attachment = { kind: 'image', name: 'cat.jpg', mimeType: 'image/jpeg', ref: 'p' };
const REPORT: Attachment = { kind: 'document', size: 9, ref: 'r' };
const BYTES = Uint8Array.from([0, 255, 1, 128, 39, 92]);
const KEY = { channel: 'web', account: 'default', chatId: 'c1', messageId: 'm1' };
/** How long a message waits for its files, in ms. */
const WAIT = 60_000;

function withFiles(id: string, attachments: readonly Attachment[], at = 0): AdmittedMessage {
  const plain = createMessage(id, 'c1', { at });
  return { ...plain, message: { ...plain.message, attachments: [...attachments] } };
}

for (const database of listBothDatabases(inject('postgresUrl'))) {
  describe.runIf(database.available)(`attachments on ${database.name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await database.openEmpty();
    });
    afterAll(() => database.dispose());

    const due = (now = 0) => store.attachments.due('web', 'default', now, 10);
    const first = async (now = 0) => {
      const [found] = await due(now);
      if (found === undefined) throw new Error('nothing is due');
      return found;
    };
    const begin = async (now: number) => {
      const work = { conversationId: 'web:c1', owner: 'w', leaseMs: 1_000 };
      const started = await store.lanes.begin(work, 'collect', `t${now}`, now);
      return started.kind === 'turn' ? listMessageIds(started.turn) : started.kind;
    };

    it('[F10] stores attachments once, with their message, and only if the message is accepted', async () => {
      await store.inbox.accept(withFiles('m1', [PHOTO, REPORT]));
      expect(await store.inbox.accept(withFiles('m1', [PHOTO, REPORT]))).toBe('duplicate');
      expect(await store.inbox.accept(withFiles('m2', [PHOTO]), 1)).toBe('full');
      expect(await due()).toMatchObject([
        { index: 0, attachment: PHOTO, attempts: 0, bytesTaken: 0, conversationId: 'web:c1' },
        { index: 1, attachment: REPORT },
      ]);
      expect(await store.attachments.due('web', 'other', 0, 10)).toEqual([]);
    });

    it('[F10] stores attachment bytes unchanged', async () => {
      await store.inbox.accept(withFiles('m1', [PHOTO, REPORT]));
      const photo = await first();
      await store.attachments.keep(photo, BYTES, 1);
      expect(Uint8Array.from((await store.attachments.bytes(photo)) ?? [])).toEqual(BYTES);
      expect(await due()).toMatchObject([{ index: 1, bytesTaken: BYTES.length }]);
      expect(await store.attachments.ofMessages([photo.messageSeq])).toMatchObject([
        { kind: 'image', name: 'cat.jpg', mimeType: 'image/jpeg', state: 'ready', text: null },
        { kind: 'document', name: null, mimeType: null, state: 'pending' },
      ]);
    });

    it('[F10] retries attachments when due, until they finally fail', async () => {
      await store.inbox.accept(withFiles('m1', [PHOTO]));
      const photo = await first();
      await store.attachments.retryLater(photo, 500, 1);
      expect(await due(499)).toEqual([]);
      expect(await due(500)).toMatchObject([{ attempts: 1 }]);
      await store.attachments.fail(photo, 'it is gone', 2);
      await store.attachments.keep(photo, BYTES, 3);
      expect(await due(9_999)).toEqual([]);
      expect(await store.attachments.ofMessages([photo.messageSeq])).toMatchObject([
        { state: 'failed', reason: 'it is gone' },
      ]);
      expect(await store.attachments.bytes(photo)).toBeNull();
    });

    it('[F10] makes the lane wait until its attachments have been fetched', async () => {
      await store.inbox.accept(createMessage('m0', 'c1'));
      await store.inbox.accept(withFiles('m1', [PHOTO]));
      expect(await begin(1)).toBe('none');
      expect(await store.lanes.withWork(5, 10_000)).toEqual(['web:c1']);
      await store.attachments.keep(await first(), BYTES, 2);
      expect(await begin(3)).toEqual(['m0', 'm1']);
    });

    it('[F10] [D13] does not make the lane wait for attachments after the clock was set back', async () => {
      const then = 10 ** 12;
      await store.inbox.accept(withFiles('m1', [PHOTO], then));
      expect(await due(then - 3_600_000)).toHaveLength(1);
      await store.attachments.retryLater(await first(then), then + 500, then);
      expect(await due(then)).toEqual([]);
      expect(await due(then - 3_600_000)).toHaveLength(1);
      expect(await begin(then - 3_600_000)).toEqual(['m1']);
    });

    it('[F10] makes the lane wait for attachments for at most a minute', async () => {
      await store.inbox.accept(withFiles('m1', [PHOTO]));
      expect(await begin(WAIT - 1)).toBe('none');
      expect(await begin(WAIT)).toEqual(['m1']);
    });

    it("[F10] waits a full minute for a message's files even if an older message has already waited for its files", async () => {
      await store.inbox.accept(withFiles('m1', [PHOTO]));
      await store.inbox.accept(withFiles('m2', [REPORT], WAIT - 1));
      expect(await begin(WAIT)).toEqual(['m1']);
    });

    it('[F10] replaces attachments when their author replaces them, and keeps them when only the text changes', async () => {
      await store.inbox.accept(withFiles('m1', [PHOTO]));
      const photo = await first();
      await store.attachments.keep(photo, BYTES, 1);
      await store.inbox.revise(KEY, { ...withFiles('m1', [PHOTO]).message, text: 'better' });
      expect(await store.attachments.bytes(photo)).not.toBeNull();
      await store.inbox.revise(KEY, withFiles('m1', [REPORT]).message);
      expect(await due()).toMatchObject([{ attachment: REPORT }]);
    });

    it('[F10] does not fetch attachments after their message was withdrawn', async () => {
      await store.inbox.accept(withFiles('m1', [PHOTO]));
      const photo = await first();
      await store.inbox.revise(KEY, null);
      expect(await due()).toEqual([]);
      await store.attachments.forget(0, 1);
      expect(await store.attachments.ofMessages([photo.messageSeq])).toMatchObject([
        { state: 'failed' },
      ]);
    });

    it('[F10] stores the transcript of speech in an attachment', async () => {
      await store.inbox.accept(withFiles('m1', [PHOTO]));
      const voice = await first();
      await store.attachments.keepText(voice, 'hello', 1);
      expect(await store.attachments.ofMessages([voice.messageSeq])).toMatchObject([
        { text: 'hello' },
      ]);
    });

    it('[F10] drops attachment bytes only when their turn is over and they are old', async () => {
      await store.inbox.accept(withFiles('m1', [PHOTO]));
      const photo = await first();
      await store.attachments.keep(photo, BYTES, 10);
      await store.attachments.forget(11, 11);
      expect(await store.attachments.bytes(photo)).not.toBeNull();
      const { lease } = await startTurn(store, 't1');
      await store.lanes.commit(lease, createAnswer('t1', ['a cat']), 12);
      await store.attachments.forget(10, 12);
      expect(await store.attachments.bytes(photo)).not.toBeNull();
      expect(await store.attachments.bytesKept()).toBe(BYTES.length);
      await store.attachments.forget(11, 12);
      expect(await store.attachments.bytes(photo)).toBeNull();
      expect(await store.attachments.bytesKept()).toBe(0);
      expect(await store.attachments.ofMessages([photo.messageSeq])).toMatchObject([
        { state: 'ready', name: 'cat.jpg' },
      ]);
    });

    it('[F18] drops view-once attachments after their turn, with the keys to fetch them again', async () => {
      const once: Attachment = { ...PHOTO, viewOnce: true, ref: 'the key' };
      await store.inbox.accept(withFiles('m1', [once, REPORT]));
      const photo = await first();
      expect(photo.attachment.ref).toBe('the key');
      await store.attachments.keep(photo, BYTES, 10);
      await store.attachments.keep({ ...photo, index: 1 }, BYTES, 10);
      await store.attachments.forgetViewOnce();
      expect(await store.attachments.bytes(photo)).not.toBeNull();
      const { lease, turn } = await startTurn(store, 't1');
      // These rows are kept longer than the file and must not contain its key.
      expect(JSON.stringify(turn)).not.toContain('the key');
      await store.lanes.commit(lease, createAnswer('t1', ['a cat']), 12);
      await store.attachments.forgetViewOnce();
      expect(await store.attachments.bytes(photo)).toBeNull();
      expect(await store.attachments.bytes({ ...photo, index: 1 })).not.toBeNull();
      expect(await store.attachments.ofMessages([photo.messageSeq])).toMatchObject([
        { state: 'ready', isViewOnce: 1, isKept: 0 },
        { state: 'ready', isViewOnce: 0, isKept: 1 },
      ]);
      const address = parseStoreUrl(database.url());
      const raw = address.dialect === 'sqlite' ? openSqlite(address) : await openPostgres(address);
      for (const [table] of TABLE_LIST) {
        const rows = await raw.read((sql) =>
          sql.all(defineDynamicStatement(`select * from ${table}`)),
        );
        expect(JSON.stringify(rows)).not.toContain('the key');
      }
      await raw.close();
    });

    it('[F18] does not store view-once attachments that arrive after their turn', async () => {
      await store.inbox.accept(withFiles('m1', [{ ...PHOTO, viewOnce: true }]));
      const photo = await first();
      await store.inbox.revise(KEY, null);
      await store.attachments.forget(0, 1);
      await store.attachments.keep(photo, BYTES, 2);
      expect(await store.attachments.bytes(photo)).toBeNull();
      expect(await store.attachments.bytesKept()).toBe(0);
    });
  });
}
