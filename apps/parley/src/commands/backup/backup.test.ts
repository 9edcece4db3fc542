import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { scaleRunCount } from '@parley/core/testing';
import { openStore } from '@parley/store';
import { list } from 'tar';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { type DataFolder, locateDataFolder, lockDataFolder } from '../../data-folder.ts';
import { readSettings } from '../../settings.ts';
import { writeArchive } from './archive.ts';
import { runBackup } from './backup.ts';
import { checkBackup, listWorkspaceFolders } from './contents.ts';
import { createBackup } from './make-backup.ts';
import { assertNoInterruptedRestore } from './put-in-place.ts';
import { type RestoreOptions, restoreBackup } from './restore-backup.ts';
import { describeRestore } from './restore-text.ts';
import { openWorkFolder, removeAbandonedFolders } from './work-folder.ts';

const NOW = Date.UTC(2026, 10, 22, 10, 0, 0);
const LONG = `${'a-long-name-'.repeat(12)}.md`;

let root: string;
let folder: DataFolder;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'parley-backup-'));
  folder = locateDataFolder(join(root, 'data'), {});
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('a backup', () => {
  it('contains the database, the workspace, the settings and the other folders, and is readable only by its owner', async () => {
    const file = await backup();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const names = namesIn(file);
    expect(names.slice(0, 2)).toEqual(['manifest.json', 'database/parley.db']);
    expect(names.at(-1)).toBe('end.json');
    expect(names).toEqual(
      expect.arrayContaining([
        'settings/parley.yaml',
        'workspace/SOUL.md',
        `workspace/notes/${LONG}`,
        'workspace/empty.md',
        'profiles/mine.yaml',
      ]),
    );
    expect(names.filter((name) => name.includes('token'))).toEqual([]);
    expect(await checkBackup(file)).toMatchObject({ files: 5, hasSettings: true });
    expect(readdirSync(folder.path).filter((name) => name.startsWith('backing-up-'))).toEqual([]);
  });

  it('reports the paths that were left out', async () => {
    await fill(folder);
    symlinkSync('/etc/hostname', join(folder.workspace, 'link.md'));
    const done = await createBackup(orderOf(join(root, 'b.tar.gz')));
    expect(done.leftOut).toEqual([join(folder.workspace, 'link.md')]);
  });

  it('[D01] succeeds while another process writes and renames the files it reads', async () => {
    await fill(folder);
    const program = `
      const { renameSync, writeFileSync } = require('node:fs');
      const paths = Array.from({ length: 300 }, (_, nth) => process.argv[1] + '/' + nth);
      for (;;) {
        for (const path of paths) writeFileSync(path + '.new', 'x');
        for (const path of paths) renameSync(path + '.new', path + '.md');
      }`;
    const writer = spawn(process.execPath, ['-e', program, folder.workspace]);
    try {
      await once(writer, 'spawn');
      // The background program keeps one core busy, so fewer rounds run on a slow machine.
      for (let nth = 0; nth < scaleRunCount(5); nth += 1) {
        const file = join(root, `${nth}.tar.gz`);
        await createBackup(orderOf(file));
        expect(await checkBackup(file)).toMatchObject({ hasSettings: true });
      }
    } finally {
      writer.kill('SIGKILL');
      await once(writer, 'exit');
    }
  });

  it('does not overwrite a file, and does not leave a partial file when it fails', async () => {
    const file = await backup();
    const before = readFileSync(file);
    await expect(createBackup(orderOf(file))).rejects.toMatchObject({ code: 'backup-exists' });
    expect(readFileSync(file)).toEqual(before);
    rmSync(join(folder.path, 'parley.db'));
    const nothing = createBackup(orderOf(join(root, 'none.tar.gz')));
    await expect(nothing).rejects.toMatchObject({ code: 'database-missing' });
    const nowhere = createBackup({ ...orderOf(join(root, 'no', 'b.tar.gz')) });
    await expect(nowhere).rejects.toThrow();
    expect(readdirSync(root).toSorted()).toEqual(['b.tar.gz', 'data']);
  });

  it("refuses to back up PostgreSQL and refers to PostgreSQL's own backup tools", async () => {
    await fill(folder);
    writeFileSync(folder.settingsFile, 'store: { url: "postgres://db/parley" }\n');
    const made = runBackup({ folder, env: {}, print() {} }, join(root, 'b.tar.gz'));
    const message = expect.stringContaining('pg_dump');
    await expect(made).rejects.toMatchObject({ code: 'backup-postgres', message });
    expect(readdirSync(root)).toEqual(['data']);
  });
});

describe('restoring', () => {
  it('recreates the backed-up state in an empty folder', async () => {
    const file = await backup();
    const target = locateDataFolder(join(root, 'new'), {});
    const done = await restore(file, { folder: target });
    expect(done).toMatchObject({ aside: null, carried: null, usedSettings: true });
    expect(contentOf(target.workspace)).toEqual(contentOf(folder.workspace));
    expect(readFileSync(join(target.path, 'profiles', 'mine.yaml'), 'utf8')).toBe('layout: lab\n');
    expect(readFileSync(target.settingsFile, 'utf8')).toBe(
      readFileSync(folder.settingsFile, 'utf8'),
    );
    expect(await valueIn(target)).toBe('before');
    expect(readdirSync(target.path).toSorted()).toEqual(
      ['lock', 'parley.db', 'parley.yaml', 'profiles', 'workspace'].toSorted(),
    );
  });

  it('[F14] restores the workspaces of all agents, inside and outside the data folder', async () => {
    await fill(folder);
    const far = join(root, 'far');
    const near = join(folder.path, 'workspaces', 'near');
    const agents = { far: { workspace: far }, near: {} };
    writeFileSync(folder.settingsFile, JSON.stringify({ model: 'offline', agents }));
    for (const place of [far, near]) {
      mkdirSync(place, { recursive: true });
      writeFileSync(join(place, 'MEMORY.md'), place);
    }
    const file = join(root, 'b.tar.gz');
    await createBackup(orderOf(file));
    for (const place of [far, near]) writeFileSync(join(place, 'MEMORY.md'), 'later');
    const { aside } = await restore(file, {});
    for (const place of [far, near])
      expect(readFileSync(join(place, 'MEMORY.md'), 'utf8')).toBe(place);
    const kept = join(aside ?? '', 'agents', 'far', 'MEMORY.md');
    expect(readFileSync(kept, 'utf8')).toBe('later');
  });

  it('moves existing files aside, and replaces the settings only on request', async () => {
    const file = await backup();
    await write(folder, 'after');
    writeFileSync(join(folder.workspace, 'SOUL.md'), 'later');
    writeFileSync(folder.settingsFile, 'model: offline\n# mine\n');
    const { aside } = await restore(file, {});
    expect(aside).toBe(join(folder.path, 'before-restore-20261122100000000'));
    expect(readFileSync(join(aside ?? '', 'workspace', 'SOUL.md'), 'utf8')).toBe('later');
    expect(readFileSync(join(folder.workspace, 'SOUL.md'), 'utf8')).toBe('soul');
    expect(readFileSync(folder.settingsFile, 'utf8')).toContain('# mine');
    expect(await valueIn(folder)).toBe('before');
    const old = { ...folder, storeUrl: `sqlite:${join(aside ?? '', 'parley.db')}` };
    expect(await valueIn(old)).toBe('after');
    const again = await restore(file, { withSettings: true, clock: () => NOW + 60_000 });
    expect(readFileSync(folder.settingsFile, 'utf8')).not.toContain('# mine');
    const kept = join(again.aside ?? '', 'parley.yaml');
    expect(readFileSync(kept, 'utf8')).toContain('# mine');
  });

  it('carries over the pending messages of the old database', async () => {
    const file = await backup();
    await ask('while it was restored');
    expect(await restore(file, {})).toMatchObject({ carried: { kind: 'carried', messages: 1 } });
    const store = await openStore({ url: folder.storeUrl, clock: () => NOW });
    expect(await store.inbox.waiting('web:c1')).toBe(1);
    const sent = { channel: 'web', account: 'default', chatId: 'c1' };
    const picture = await store.attachments.ofChat(
      { ...sent, messageId: 'while it was restored' },
      0,
    );
    expect(String(Buffer.from(picture?.bytes ?? []))).toBe('a picture');
    expect(await store.files.missing()).toBe(0);
    await store.close();
    writeFileSync(join(folder.path, 'parley.db'), 'garbled');
    const again = await restore(file, { clock: () => NOW + 60_000 });
    expect(again).toMatchObject({ carried: { kind: 'unreadable' } });
    expect(await valueIn(folder)).toBe('before');
  });

  it('[D01] holds back unfinished work if a pending message is missing from the backup', async () => {
    const file = await backup();
    await ask('later');
    const before = contentOf(folder.path);
    const refused = restore(file, { unfinished: 'go-on' });
    await expect(refused).rejects.toMatchObject({ code: 'store-pending-work' });
    expect(contentOf(folder.path)).toEqual(before);
  });

  it('[D01] [U02] restores without the keys in secrets/, which backups omit, and lists the missing keys', async () => {
    await fill(folder);
    const key = join(folder.path, 'secrets', 'model-key');
    mkdirSync(join(folder.path, 'secrets'));
    writeFileSync(key, 'sk-very-secret-key');
    const reference = `\${file:secrets/model-key}`;
    const model = `provider: anthropic, model: m, apiKey: "${reference}"`;
    writeFileSync(folder.settingsFile, `model: { ${model} }\n`);
    const file = join(root, 'b.tar.gz');
    await createBackup(orderOf(file));
    expect(namesIn(file).filter((name) => name.includes('secrets'))).toEqual([]);
    const elsewhere = locateDataFolder(join(root, 'elsewhere'), {});
    const done = await restore(file, { folder: elsewhere });
    expect(done).toMatchObject({
      usedSettings: true,
      missingSecrets: [join(elsewhere.path, 'secrets', 'model-key')],
    });
    const said = describeRestore(done, elsewhere);
    expect(said).toContain('Backups do not contain keys');
    expect(said).toContain(join(elsewhere.path, 'secrets', 'model-key'));
    expect(readFileSync(elsewhere.settingsFile, 'utf8')).toContain(reference);
    // No keys are listed if the key files still exist.
    const again = await restore(file, {});
    expect(again.missingSecrets).toEqual([]);
    expect(describeRestore(again, folder)).not.toContain('Keys');
  });

  it('leaves no files behind when a backup is interrupted', async () => {
    await fill(folder);
    const file = join(root, 'interrupted.tar.gz');
    const ended = new AbortController();
    const making = createBackup({ ...orderOf(file), signal: ended.signal });
    ended.abort();
    await expect(making).rejects.toMatchObject({ code: 'backup-unwritable' });
    expect(readdirSync(root)).toEqual(['data']);
    expect(readdirSync(folder.path).filter((name) => name.startsWith('backing-up-'))).toEqual([]);
  });

  it('removes the partial file of a killed backup at the next backup', async () => {
    await fill(folder);
    const part = join(root, 'killed.tar.gz.part');
    const left = join(folder.path, 'backing-up-abc');
    mkdirSync(left);
    writeFileSync(join(left, 'part'), part);
    writeFileSync(part, 'half');
    await createBackup(orderOf(join(root, 'next.tar.gz')));
    expect([existsSync(part), existsSync(left)]).toEqual([false, false]);
  });

  it('removes the partial file of a killed backup at the next start', async () => {
    await fill(folder);
    const part = join(root, 'killed.tar.gz.part');
    const left = join(folder.path, 'backing-up-abc');
    mkdirSync(left);
    writeFileSync(join(left, 'part'), part);
    writeFileSync(part, 'half');
    using living = openWorkFolder(folder.path, 'restoring-');
    removeAbandonedFolders(folder.path);
    expect([existsSync(part), existsSync(left), existsSync(living.path)]).toEqual([
      false,
      false,
      true,
    ]);
  });

  it('stages all files, then waits until the gateway has stopped', async () => {
    const file = await backup();
    await write(folder, 'after');
    const gateway = lockDataFolder(folder);
    const endGateway = async () => {
      expect(readdirSync(folder.path).filter((name) => name.startsWith('restoring-'))).toHaveLength(
        1,
      );
      void sleep(300)
        .then(() => write(folder, 'its last words'))
        .then(() => gateway.release());
    };
    const { aside } = await restore(file, { endGateway });
    expect(await valueIn(folder)).toBe('before');
    const old = { storeUrl: `sqlite:${join(aside ?? '', 'parley.db')}` };
    expect(await valueIn(old)).toBe('its last words');
  });

  it('refuses to restore while another process holds the data folder, and changes nothing', async () => {
    const file = await backup();
    const gateway = lockDataFolder(folder);
    const before = contentOf(folder.path);
    await expect(restore(file, {})).rejects.toMatchObject({ code: 'data-locked' });
    expect(contentOf(folder.path)).toEqual(before);
    gateway.release();
  });

  it('[D01] [D04] completes an interrupted restore, and keeps the old state in one folder', async () => {
    const file = await backup();
    await write(folder, 'after');
    await ask('unanswered');
    writeFileSync(join(folder.workspace, 'SOUL.md'), 'later');
    mkdirSync(join(folder.path, 'skills'));
    // Simulates a restore that was interrupted after the database was replaced and before the
    // workspace was replaced.
    const aside = join(folder.path, 'before-restore-1');
    mkdirSync(aside);
    renameSync(join(folder.path, 'parley.db'), join(aside, 'parley.db'));
    renameSync(join(folder.path, 'parley.db-files'), join(aside, 'parley.db-files'));
    await write(folder, 'half restored');
    renameSync(folder.workspace, join(aside, 'workspace'));
    const had = ['parley.db', 'parley.db-files', 'workspace', 'profiles', 'skills'];
    writeFileSync(folder.restoreMarker, JSON.stringify({ aside, had }));
    expect(() => assertNoInterruptedRestore(folder)).toThrow(
      expect.objectContaining({
        code: 'restore-unfinished',
        message: expect.stringMatching(/restore FILE.*before-restore-1/s),
      }),
    );
    expect(await restore(file, {})).toMatchObject({ aside, carried: { messages: 1 } });
    assertNoInterruptedRestore(folder);
    expect(await valueIn(folder)).toBe('before');
    expect(readFileSync(join(folder.workspace, 'SOUL.md'), 'utf8')).toBe('soul');
    expect(await valueIn({ storeUrl: `sqlite:${join(aside, 'parley.db')}` })).toBe('after');
    expect(readFileSync(join(aside, 'workspace', 'SOUL.md'), 'utf8')).toBe('later');
    expect(readdirSync(aside).filter((name) => !/-(wal|shm)$/.test(name))).toEqual([
      'parley.db',
      'parley.db-files',
      'profiles',
      'skills',
      'workspace',
    ]);
  });

  it('completes a restore that was interrupted under 0.1.0', async () => {
    const file = await backup();
    writeFileSync(folder.restoreMarker, '{"file": "/b.tar.gz", "exchanges": []}');
    expect(() => assertNoInterruptedRestore(folder)).toThrow('was interrupted');
    await restore(file, {});
    expect(existsSync(folder.restoreMarker)).toBe(false);
  });

  /**
   * The backup that the tests modify. The backup's content never changes, so only the first test
   * creates it.
   */
  let good: Buffer | undefined;
  it.each([
    ['that does not exist', () => undefined, 'backup-missing'],
    ['that is not an archive', () => Buffer.from('Dear diary'), 'backup-damaged'],
    ['that is empty', () => Buffer.alloc(0), 'backup-damaged'],
    [
      'cut off in the middle',
      (bytes: Buffer) => bytes.subarray(0, bytes.length / 2),
      'backup-damaged',
    ],
    ['that was repacked without its end entry', withoutEnd, 'backup-damaged'],
    ['cut off in its first entry', (bytes: Buffer) => bytes.subarray(0, 400), 'backup-damaged'],
    ['cut off before its end', (bytes: Buffer) => bytes.subarray(0, -400), 'backup-damaged'],
    ['with modified content', (bytes: Buffer) => swap(bytes, 'before', 'BEFORE'), 'backup-damaged'],
    [
      'with a path outside of the archive',
      (bytes: Buffer) => swap(bytes, 'workspace/SOUL.md', 'workspace/../x.md'),
      'backup-damaged',
    ],
    [
      'of a newer Parley',
      (bytes: Buffer) => swap(bytes, '"format": 2', '"format": 3'),
      'backup-newer',
    ],
    [
      'of a newer database',
      (bytes: Buffer) => swap(bytes, /\n {4}\d\d\n {2}\]/, '\n    99\n  ]'),
      'store-newer',
    ],
  ])('refuses a backup file %s before changing anything', async (_what, change, code) => {
    if (good === undefined) good = readFileSync(await backup());
    else await fill(folder);
    const bytes = change(good);
    const file = join(root, 'refused.tar.gz');
    if (bytes !== undefined) writeFileSync(file, bytes);
    const before = contentOf(folder.path);
    await expect(checkBackup(file)).rejects.toMatchObject({ code });
    expect(contentOf(folder.path)).toEqual(before);
  });
});

describe('the archive', () => {
  it.runIf(inject('tarPath'))('can be read by the operating system’s tar command', async () => {
    const file = join(root, 'a.tar.gz');
    const archive = await writeArchive(file);
    const name = `workspace/${'ü'.repeat(80)}/${LONG}`;
    await archive.add(name, 'long');
    await archive.add('workspace/b.md', 'b');
    await archive.end();
    const out = join(root, 'out');
    mkdirSync(out);
    execFileSync('tar', ['xzf', file, '-C', out], { env: { ...process.env, LC_ALL: 'C.UTF-8' } });
    expect(Object.keys(contentOf(out))).toEqual([name, 'workspace/b.md'].toSorted());
    expect(readFileSync(join(out, name), 'utf8')).toBe('long');
  });

  it('accepts files of any size and name, but fails when the disk is full', async () => {
    const file = join(root, 'a.tar.gz');
    const archive = await writeArchive(file);
    const name = `workspace/${'ü'.repeat(80)}/${LONG}`;
    const chunk = Buffer.alloc(700_001, 7);
    const chunks = async function* () {
      for (let i = 0; i < 5; i += 1) yield chunk;
    };
    await archive.addStream(name, 5 * chunk.length, new Date(NOW), chunks());
    await archive.add('workspace/b.md', 'b');
    await archive.end();
    expect(namesIn(file)).toEqual([name, 'workspace/b.md']);
    await expect(writeArchive(file).then((same) => same.end())).rejects.toThrow('EEXIST');
  });
});

function namesIn(file: string): string[] {
  const names: string[] = [];
  list({ file, sync: true, onReadEntry: ({ path }) => void names.push(path) });
  return names;
}

async function backup(): Promise<string> {
  await fill(folder);
  const file = join(root, 'b.tar.gz');
  await createBackup(orderOf(file));
  return file;
}

async function fill({ path, workspace, settingsFile }: DataFolder): Promise<void> {
  mkdirSync(join(workspace, 'notes'), { recursive: true });
  mkdirSync(join(path, 'profiles'));
  writeFileSync(settingsFile, 'model: offline\n');
  writeFileSync(join(path, 'token'), 'secret');
  writeFileSync(join(workspace, 'SOUL.md'), 'soul');
  writeFileSync(join(workspace, 'notes', LONG), 'x'.repeat(scaleRunCount(3_000_000)));
  writeFileSync(join(workspace, 'empty.md'), '');
  writeFileSync(join(workspace, 'bytes'), Buffer.from([0, 255, 10]));
  writeFileSync(join(path, 'profiles', 'mine.yaml'), 'layout: lab\n');
  await write(folder, 'before');
}

async function write({ storeUrl }: Pick<DataFolder, 'storeUrl'>, value: string): Promise<void> {
  const store = await openStore({ url: storeUrl, clock: () => NOW });
  await store.adapterValues('web', 'default').set([{ kind: 'k', id: 'i', value }]);
  await store.close();
}

async function ask(text: string): Promise<void> {
  const store = await openStore({ url: folder.storeUrl, clock: () => NOW });
  const [web, id] = [{ channel: 'web', account: 'default' }, 'c1'];
  const target = { dialect: 'plain', maxLength: 4096, unit: 'utf16' } as const;
  await store.inbox.accept({
    conversationId: `web:${id}`,
    route: { ...web, chatId: id, target },
    receivedAt: NOW,
    files: [Buffer.from('a picture')],
    message: {
      attachments: [{ kind: 'image', ref: 'p' }],
      ...{ ...web, messageId: text, text, mentions: [], addressed: true, sentAt: 0, variables: {} },
      chat: { id, type: 'direct' },
      sender: { id: 'u1', name: 'Ada', isBot: false },
    },
  });
  await store.close();
}

async function valueIn({ storeUrl }: Pick<DataFolder, 'storeUrl'>): Promise<string | undefined> {
  const store = await openStore({ url: storeUrl, clock: () => NOW });
  const values = await store.adapterValues('web', 'default').get('k', ['i']);
  await store.close();
  return values.get('i');
}

function orderOf(file: string) {
  const { settingsFile, path: dataFolder } = folder;
  const workspaces = listWorkspaceFolders(readSettings(folder, {}), dataFolder);
  const database = join(dataFolder, 'parley.db');
  return { file, database, settingsFile, workspaces, dataFolder, clock: () => NOW };
}

async function restore(file: string, more: Partial<RestoreOptions>) {
  const backup = await checkBackup(file);
  const order = { backup, folder, env: {}, clock: () => NOW, unfinished: 'hold' as const };
  return restoreBackup({ ...order, withSettings: false, ...more });
}

/** Returns all files below a folder, except the lock file, which is never the same twice. */
function contentOf(path: string): Record<string, string> {
  const names = readdirSync(path, { recursive: true }).map(String).toSorted();
  return Object.fromEntries(
    names
      .filter((name) => !name.startsWith('lock') && statSync(join(path, name)).isFile())
      .map((name) => [name, readFileSync(join(path, name), 'base64')]),
  );
}

function withoutEnd(bytes: Buffer): Buffer {
  const content = gunzipSync(bytes);
  return gzipSync(content.subarray(0, content.indexOf('database/')).subarray(0, -100));
}

/** Returns the same archive with one string replaced by another of equal length. */
function swap(bytes: Buffer, from: string | RegExp, to: string): Buffer {
  const content = gunzipSync(bytes).toString('latin1');
  if (content.search(from) < 0) throw new Error(`the archive does not contain "${from}"`);
  const changed = Buffer.from(content.replace(from, to), 'latin1');
  return gzipSync(withGoodSums(changed));
}

/** Recomputes the checksum of each tar header, because changing a name invalidates it. */
function withGoodSums(bytes: Buffer): Buffer {
  for (let at = 0; at + 512 <= bytes.length; at += 512) {
    const block = bytes.subarray(at, at + 512);
    if (block.toString('latin1', 257, 262) !== 'ustar') continue;
    block.fill(' ', 148, 156);
    const sum = block.reduce((total, byte) => total + byte, 0);
    block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  }
  return bytes;
}
