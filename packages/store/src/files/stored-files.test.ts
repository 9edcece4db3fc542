import { spawn } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Attachment } from '@parley/core';
import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import {
  type Database,
  defineDynamicStatement,
  parseStoreUrl,
  type SqlValue,
} from '../database.ts';
import { openStore } from '../open-store.ts';
import { openPostgres } from '../postgres/open-postgres.ts';
import type { AdmittedMessage } from '../rows.ts';
import { openSqlite } from '../sqlite/open-sqlite.ts';
import type { Store } from '../store.ts';
import { createSqliteForTests, listBothDatabases } from '../testing/databases.ts';
import {
  createAnswer,
  createMessage,
  createPart,
  createTestRoute,
  startTurn,
} from '../testing/messages.ts';

const PHOTO: Attachment = { kind: 'image', name: 'cat.jpg', mimeType: 'image/jpeg', ref: 'p' };
const BYTES = Uint8Array.from([0, 255, 1, 128, 39, 92]);
const FILE = { kind: 'document', name: 'report.pdf', mimeType: 'application/pdf' } as const;
/** The age in ms below which unreferenced files are kept. */
const MINUTES = 60_000;

function withFile(id: string, chatId = 'c1'): AdmittedMessage {
  const plain = createMessage(id, chatId);
  return { ...plain, message: { ...plain.message, attachments: [PHOTO] } };
}

for (const database of listBothDatabases(inject('postgresUrl'))) {
  describe.runIf(database.available)(`stored files on ${database.name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await database.openEmpty();
    });
    afterAll(() => database.dispose());

    const ask = async (query: string, values: Readonly<Record<string, SqlValue>> = {}) => {
      const address = parseStoreUrl(database.url());
      const raw: Database =
        address.dialect === 'sqlite' ? openSqlite(address) : await openPostgres(address);
      try {
        const rows = defineDynamicStatement(query).rows<Readonly<Record<string, SqlValue>>>();
        return await raw.read((sql) => sql.all(rows, values));
      } finally {
        await raw.close();
      }
    };
    const there = async (): Promise<readonly string[]> => {
      const address = parseStoreUrl(database.url());
      if (address.dialect === 'sqlite') {
        const folder = `${address.path}-files`;
        return existsSync(folder) ? readdirSync(folder) : [];
      }
      return (await ask('select distinct file_id as id from file_piece')).map(({ id }) => `${id}`);
    };
    const due = async () => {
      const [found] = await store.attachments.due('web', 'default', 0, 9);
      if (found === undefined) throw new Error('nothing is due');
      return found;
    };
    const finish = async (chatId = 'c1', turnId = 't1') => {
      const { lease } = await startTurn(store, turnId, `web:${chatId}`);
      await store.lanes.commit(lease, createAnswer(turnId, ['seen'], chatId), 2);
    };

    it('[D05] [G19] stores files outside the row of their attachment, which refers to them', async () => {
      await store.inbox.accept(withFile('m1'));
      await store.attachments.keep(await due(), new Uint8Array(3_000_000), 1);
      const rows = await ask('select bytes, file_id from attachment');
      expect(rows).toEqual([{ bytes: null, file_id: expect.any(String) }]);
    });

    it('[F10] reads files back unchanged, even with many pieces or none', async () => {
      const sizes = [0, 1, 256 * 1_024, 700_001];
      for (const [nth, size] of sizes.entries()) {
        await store.inbox.accept(withFile(`m${nth}`, `c${nth}`));
        const photo = await due();
        const bytes = Uint8Array.from({ length: size }, (_, at) => at % 251);
        await store.attachments.keep(photo, bytes, 1);
        expect(Uint8Array.from((await store.attachments.bytes(photo)) ?? [9])).toEqual(bytes);
      }
    });

    it('[D01] reads files that 0.1.0 stored in rows, and drops them like other files', async () => {
      await store.inbox.accept(withFile('m1'));
      const photo = await due();
      const set =
        "state = 'ready', bytes = :bytes, size = 6, updated_at = 1 where inbox_seq = :seq";
      await ask(`update attachment set ${set} returning 1 as one`, {
        bytes: BYTES,
        seq: photo.messageSeq,
      });
      expect(Uint8Array.from((await store.attachments.bytes(photo)) ?? [])).toEqual(BYTES);
      expect(await store.attachments.bytesKept()).toBe(6);
      await finish();
      await store.attachments.forget(5, 5);
      expect(await store.attachments.bytes(photo)).toBeNull();
      expect(await store.attachments.bytesKept()).toBe(0);
    });

    it('[D01] removes files that a crash left without a row, and keeps files that a row refers to', async () => {
      await store.inbox.accept(withFile('m1'));
      const photo = await due();
      await store.attachments.keep(photo, BYTES, 1);
      const [named] = await there();
      await store.files.put(BYTES);
      expect(await there()).toHaveLength(2);
      expect(await store.files.sweep(0)).toBe(0);
      expect(await store.files.sweep(9 * MINUTES)).toBe(0);
      expect(await there()).toHaveLength(2);
      expect(await store.files.sweep(11 * MINUTES)).toBe(1);
      expect(await there()).toEqual([named]);
      expect(await store.attachments.bytes(photo)).not.toBeNull();
    });

    it('[D01] does not remove a file once a row refers to it', async () => {
      await store.inbox.accept(withFile('m1'));
      const stored = await store.files.put(BYTES);
      await store.files.sweep(0);
      const set = "state = 'ready', file_id = :id, size = 6 where state = 'pending'";
      await ask(`update attachment set ${set} returning 1 as one`, { id: stored.id });
      expect(await store.files.sweep(60 * MINUTES)).toBe(0);
      expect(await there()).toEqual([stored.id]);
    });

    it('[F10] reports files that are completely or partly missing', async () => {
      await store.inbox.accept(withFile('m1'));
      const photo = await due();
      await store.attachments.keep(photo, new Uint8Array(600_000), 1);
      const [id = ''] = await there();
      const address = parseStoreUrl(database.url());
      if (address.dialect === 'sqlite') writeFileSync(join(`${address.path}-files`, id), 'half');
      else await ask('delete from file_piece where piece_index = 1 returning 1 as one');
      expect(await store.attachments.bytes(photo)).toBeNull();
      expect(await store.files.missing()).toBe(1);
      if (address.dialect === 'sqlite') rmSync(join(`${address.path}-files`, id));
      else await ask('delete from file_piece returning 1 as one');
      expect(await store.attachments.bytes(photo)).toBeNull();
      expect(
        await store.attachments.ofChat({ ...createTestRoute('c1'), messageId: 'm1' }, 0),
      ).toBeNull();
      expect(await store.files.missing()).toBe(1);
    });

    it('[D15] removes a file when no row refers to it any longer', async () => {
      await store.inbox.accept({ ...withFile('m1'), files: [BYTES] });
      await store.inbox.accept({ ...withFile('m2', 'c2'), files: [BYTES] });
      await finish('c1', 't1');
      const [first, second] = (await ask('select file_id from attachment order by inbox_seq')).map(
        (row) => `${row.file_id}`,
      );
      // A resent message refers to the same file.
      await ask('update attachment set file_id = :first returning 1 as one', {
        first: first ?? '',
      });
      await store.files.release([{ id: second ?? '' }]);
      await store.attachments.forget(5, 5);
      expect(await there()).toEqual([first]);
      await finish('c2', 't2');
      await store.attachments.forget(5, 5);
      expect(await there()).toEqual([]);
    });

    it('[G15] removes files from the disk after /forget', async () => {
      const secret = 'the code of the safe is 4711';
      const bytes = Uint8Array.from(Buffer.from(secret));
      await store.inbox.accept({ ...withFile('m1'), files: [bytes] });
      await store.inbox.accept({ ...withFile('m2', 'c2'), files: [BYTES] });
      await ask(
        "update inbox set message = replace(message, '\"u1\"', '\"u2\"') where message_id = 'm2' returning 1 as one",
      );
      const found = await store.forgetting.searchFiles([secret]);
      if (database.name === 'SQLite') expect(found).toEqual({ found: 1, complete: true });
      await store.forgetting.forgetPerson({
        ...{ persons: ['web:u1'], ownersToo: false, only: null, now: 9 },
        onStopped: () => undefined,
        retell: () => null,
      });
      expect(await there()).toHaveLength(1);
      const after = await store.forgetting.searchFiles([secret]);
      if (database.name === 'SQLite') expect(after).toEqual({ found: 0, complete: true });
    });

    it("[D04] stores a post's files once, however often the post is repeated", async () => {
      const parts = [{ ...createPart('here'), file: { ...FILE, size: 6 }, bytes: BYTES }] as const;
      expect(await store.outbox.post({ key: 'k', parts }, 0)).toMatchObject({ kind: 'posted' });
      expect(await store.outbox.post({ key: 'k', parts }, 0)).toMatchObject({ kind: 'known' });
      expect(await there()).toHaveLength(1);
      const sent = await store.outbox.next(createTestRoute('c1'));
      const bytes = await store.agentFiles.ofPart(sent?.part.id ?? '');
      expect(Uint8Array.from(bytes ?? [])).toEqual(BYTES);
    });

    it('[F08] [D07] does not leave files behind when a message is a duplicate or refused', async () => {
      await store.inbox.accept({ ...withFile('m1'), files: [BYTES] });
      expect(await store.inbox.accept({ ...withFile('m1'), files: [BYTES] })).toBe('duplicate');
      expect(await store.inbox.accept({ ...withFile('m2'), files: [BYTES] }, 1)).toBe('full');
      expect(await there()).toHaveLength(1);
    });
  });
}

describe('files beside a SQLite database', () => {
  const database = createSqliteForTests();
  afterAll(() => database.dispose());
  const LARGE = 64_000_000;

  const folder = () => `${database.url().slice('sqlite:'.length)}-files`;
  const namesIn = () => (existsSync(folder()) ? readdirSync(folder()) : []);
  const start = (size: number) => {
    const program = join(import.meta.dirname, '../testing/keep-program.ts');
    const args = [program, database.url(), `${size}`];
    return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  };
  const kill = async (child: ReturnType<typeof start>) => {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  };
  /** After a restart, the attachment must still be fetched, and leftover files are swept. */
  const expectAsBefore = async () => {
    const store = await openStore({ url: database.url(), clock: () => 0 });
    const [photo] = await store.attachments.due('web', 'default', 0, 1);
    expect(photo).toMatchObject({ attempts: 0 });
    await store.files.sweep(0);
    expect(await store.files.sweep(11 * MINUTES)).toBe(1);
    expect(namesIn()).toEqual([]);
    if (photo === undefined) throw new Error('nothing is due');
    await store.attachments.keep(photo, BYTES, 1);
    expect(await store.attachments.bytes(photo)).not.toBeNull();
    await store.close();
  };

  it('[G18] makes files readable only by their owner', async () => {
    const store = await database.openEmpty();
    await store.inbox.accept({ ...withFile('m1'), files: [BYTES] });
    expect(statSync(folder()).mode & 0o777).toBe(0o700);
    const modes = namesIn().map((name) => statSync(join(folder(), name)).mode & 0o777);
    expect(modes).toEqual([0o600]);
  });

  it('[D01] fetches a file again if the process was killed while writing it', async () => {
    const isHalf = (name: string): boolean => /^file_\w+\.part$/.test(name);
    // On a busy machine, the file may be complete before the check, so the test tries again.
    do {
      rmSync(folder(), { recursive: true, force: true });
      const store = await database.openEmpty();
      await store.inbox.accept(withFile('m1'));
      await store.close();
      const child = start(LARGE);
      await expect.poll(namesIn, { timeout: 30_000, interval: 1 }).toHaveLength(1);
      await kill(child);
    } while (!namesIn().every(isHalf));
    await expectAsBefore();
  });

  it('[D01] fetches a file again if the process was killed between writing the file and its row', async () => {
    const store = await database.openEmpty();
    await store.inbox.accept(withFile('m1'));
    await store.close();
    // Only the row has to wait for another writer; the file does not.
    const other = new DatabaseSync(database.url().slice('sqlite:'.length));
    other.exec('begin immediate');
    const child = start(1_000);
    await expect
      .poll(() => namesIn().filter((name) => !name.endsWith('.part')), { timeout: 30_000 })
      .toHaveLength(1);
    await kill(child);
    other.exec('rollback');
    other.close();
    await expectAsBefore();
  });

  it('[G15] never reads files outside the folder, even if a row contains such a path', async () => {
    const store = await database.openEmpty();
    await store.inbox.accept({ ...withFile('m1'), files: [BYTES] });
    const outside = join(folder(), '..', 'outside');
    writeFileSync(outside, BYTES);
    const raw = new DatabaseSync(database.url().slice('sqlite:'.length));
    raw.exec("update attachment set file_id = '../outside'");
    raw.close();
    expect(await store.attachments.bytes({ messageSeq: 1, index: 0 })).toBeNull();
    await store.files.release([{ id: '../outside' }]);
    expect(existsSync(outside)).toBe(true);
  });
});
