import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openLocalFile, parseLocalFile } from './local-files.ts';

const TOKEN = '1:t';

describe('the location of a file from a server in local mode', () => {
  it.each<[string, object]>([
    ['/var/lib/1:t/documents/a.jpg', { folder: TOKEN, steps: ['documents', 'a.jpg'] }],
    ['1:t/a', { folder: TOKEN, steps: ['a'] }],
    ['C:\\bots\\1~t\\a.jpg', { folder: '1~t', steps: ['a.jpg'] }],
  ])("[F10] is below the bot's folder: %s", (path, place) => {
    expect(parseLocalFile(TOKEN, path)).toEqual(place);
  });

  it.each([
    '/etc/passwd',
    '/var/1:t',
    '/var/1:t/../2:u/a',
    '/var/1:t/a//b',
    '/var/1:tt/a',
    '/1:t/\0',
  ])("[F10] is undefined outside the bot's folder: %j", (path) => {
    expect(parseLocalFile(TOKEN, path)).toBeUndefined();
  });
});

describe('opening a file of a server in local mode', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bot-api-'));
    await mkdir(join(folder, 'server', TOKEN, 'documents'), { recursive: true });
    await writeFile(join(folder, 'secret'), 'secret');
    await writeFile(join(folder, 'server', TOKEN, 'documents', 'own'), 'own');
  });
  afterEach(() => rm(folder, { recursive: true }));

  const open = (...steps: string[]) =>
    openLocalFile(join(folder, 'server'), { folder: TOKEN, steps });

  it("[F10] opens the file even if the server's directory is a symbolic link", async () => {
    await symlink(join(folder, 'server'), join(folder, 'link'));
    const steps = ['documents', 'own'];
    const handle = await openLocalFile(join(folder, 'link'), { folder: TOKEN, steps });
    expect(await handle.readFile('utf8')).toBe('own');
    await handle.close();
  });

  it('[F10] refuses a file that is, or is inside, a symbolic link', async () => {
    const own = join(folder, 'server', TOKEN);
    await symlink(join(folder, 'secret'), join(own, 'documents', 'link'));
    await symlink(folder, join(own, 'folder'));
    await expect(open('documents', 'link')).rejects.toThrow('symbolic link');
    await expect(open('folder', 'secret')).rejects.toThrow('symbolic link');
    expect(await readFile(join(own, 'folder', 'secret'), 'utf8')).toBe('secret');
  });

  it('[F10] reports a missing file without including the token', async () => {
    await expect(open('documents')).rejects.toThrow('it is not a file');
    await expect(open('documents', 'gone')).rejects.toThrow(
      'it was not found in localFiles (ENOENT)',
    );
  });
});
