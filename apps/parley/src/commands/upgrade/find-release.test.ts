import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from 'tar';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { findRelease } from './find-release.ts';
import { unpackRelease } from './unpack-release.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'parley-release-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const sumOf = (content: string): string => createHash('sha256').update(content).digest('hex');

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/parley-{version}.tgz`;
}

describe('finding a release', () => {
  const wanted = (word: string, sha256?: string) => ({
    word,
    sha256,
    url: undefined,
    folder: root,
  });

  it('[D18] accepts a file whose checksum is given, or beside it', async () => {
    const file = join(root, 'parley-0.2.0.tgz');
    writeFileSync(file, 'content');
    await expect(findRelease(wanted(file))).rejects.toMatchObject({ code: 'upgrade-no-checksum' });
    expect(await findRelease(wanted(file, sumOf('content').toUpperCase()))).toBe(file);
    writeFileSync(`${file}.sha256`, `${sumOf('content')}  parley-0.2.0.tgz\n`);
    expect(await findRelease(wanted(file))).toBe(file);
    writeFileSync(file, 'other content');
    await expect(findRelease(wanted(file))).rejects.toMatchObject({ code: 'upgrade-checksum' });
    writeFileSync(`${file}.sha256`, 'nothing of the kind');
    await expect(findRelease(wanted(file))).rejects.toMatchObject({ code: 'upgrade-no-checksum' });
  });

  it('[D18] asks nobody for a version unless the settings have an address', async () => {
    await expect(findRelease(wanted('0.2.0'))).rejects.toMatchObject({
      code: 'upgrade-no-address',
    });
    await expect(findRelease(wanted('next'))).rejects.toMatchObject({
      code: 'upgrade-not-a-release',
    });
  });

  it('[D18] downloads a version and its checksum from the address in the settings', async () => {
    const asked: string[] = [];
    const url = await serve(({ url = '' }, response) => {
      asked.push(url);
      if (url.startsWith('/parley-0.2.0.tgz'))
        response.end(url.endsWith('.sha256') ? sumOf('the release') : 'the release');
      else if (url.startsWith('/parley-0.3.0.tgz'))
        response.end(url.endsWith('.sha256') ? sumOf('the release') : 'a changed release');
      else response.writeHead(404).end();
    });
    const file = await findRelease({ ...wanted('v0.2.0'), url });
    expect(file).toBe(join(root, 'parley-0.2.0.tgz'));
    expect(asked).toEqual(['/parley-0.2.0.tgz.sha256', '/parley-0.2.0.tgz']);
    const changed = findRelease({ ...wanted('0.3.0'), url });
    await expect(changed).rejects.toMatchObject({ code: 'upgrade-checksum' });
    const missing = findRelease({ ...wanted('0.4.0'), url });
    await expect(missing).rejects.toMatchObject({ code: 'upgrade-download' });
  });
});

/** Packs files as a release; `links` are symbolic links by name. */
async function pack(
  files: Readonly<Record<string, string>>,
  links: Readonly<Record<string, string>> = {},
): Promise<string> {
  const from = join(root, 'from');
  rmSync(from, { recursive: true, force: true });
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(from, name, '..'), { recursive: true });
    writeFileSync(join(from, name), text);
  }
  for (const [name, to] of Object.entries(links)) symlinkSync(to, join(from, name));
  const file = join(root, 'packed.tgz');
  await create({ file, cwd: from, gzip: true }, readdirSync(from));
  return file;
}

const manifest = (libraries: object) =>
  JSON.stringify({ name: 'parley', version: '0.2.0', optionalDependencies: libraries });
const RELEASE = {
  'package/package.json': manifest({ telegraf: '4.16.3' }),
  'package/dist/bundle.json': '{"hash": "abc123"}',
  'package/dist/abc123/main.mjs': '',
  'package/apps/parley/bin/parley.js': '',
};

describe('unpacking a release', () => {
  const current = () => {
    const own = join(root, 'current');
    mkdirSync(join(own, 'node_modules/telegraf'), { recursive: true });
    writeFileSync(
      join(own, 'package.json'),
      manifest({ telegraf: '4.16.3' }).replace('0.2.0', '0.1.0'),
    );
    return { root: own, version: '0.1.0' };
  };

  it('[D18] shares the libraries of the running version if they are the same', async () => {
    const release = await unpackRelease(await pack(RELEASE), join(root, 'releases'), current());
    expect(release).toEqual({ root: join(root, 'releases/0.2.0/parley'), version: '0.2.0' });
    expect(existsSync(join(release.root, 'node_modules/telegraf'))).toBe(true);
  });

  it.each([
    ['a path outside its folder', { ...RELEASE, 'other/file': '' }, {}],
    ['a symbolic link', RELEASE, { 'package/link': '/etc/passwd' }],
    [
      'another package',
      { ...RELEASE, 'package/package.json': '{"name": "other", "version": "1.0.0"}' },
      {},
    ],
    ['no bundle', { ...RELEASE, 'package/dist/bundle.json': '{"hash": "0"}' }, {}],
  ])('[D18] refuses an archive with %s, and leaves nothing behind', async (_what, files, links) => {
    const unpacking = unpackRelease(await pack(files, links), join(root, 'releases'), current());
    await expect(unpacking).rejects.toMatchObject({ code: 'upgrade-not-a-release' });
    expect(existsSync(join(root, 'releases/0.2.0'))).toBe(false);
    expect(existsSync(join(root, 'releases/1.0.0'))).toBe(false);
  });

  it('[D18] installs no library that the release does not pin, and never replaces the running version', async () => {
    const other = { ...RELEASE, 'package/package.json': manifest({ telegraf: '5.0.0' }) };
    const folder = join(root, 'releases');
    const unpinned = unpackRelease(await pack(other), folder, current());
    await expect(unpinned).rejects.toMatchObject({ code: 'upgrade-libraries' });
    const running = await unpackRelease(await pack(RELEASE), folder, current());
    const again = unpackRelease(await pack(RELEASE), folder, running);
    await expect(again).rejects.toMatchObject({ code: 'upgrade-not-a-release' });
    expect(existsSync(join(running.root, 'package.json'))).toBe(true);
  });
});
