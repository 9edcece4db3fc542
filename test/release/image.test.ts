import {
  chmodSync,
  chownSync,
  cpSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { isFullRun } from '@parley/core/testing';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { listRepositoryFiles } from '../repository-files.ts';
import { readDockerfile } from './dockerfile.ts';
import { buildImage, type ContainerImage, IS_ROOT, NODE_USER, startContainer } from './image.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** The path of the libraries in the image. In a normal run, they are the repository's libraries. */
const MODULES = '/parley/node_modules';

/** The repository files that `.dockerignore` does not exclude. */
function contextFiles(): string[] {
  const lines = readFileSync(join(ROOT, '.dockerignore'), 'utf8').trim().split('\n');
  const taken = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
  const left = lines
    .filter((line) => line.startsWith('**/'))
    .map(
      (line) =>
        new RegExp(`(^|/)${line.slice(3).replaceAll('.', '\\.').replace('*', '[^/]*')}(/|$)`),
    );
  return listRepositoryFiles()
    .filter((file) => taken.some((name) => file === name || file.startsWith(`${name}/`)))
    .filter((file) => !left.some((pattern) => pattern.test(file)));
}

/** Copies the release files that are needed at run time into `folder`. */
function packInto(folder: string): void {
  const { files } = z
    .object({ files: z.array(z.string()) })
    .parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')));
  const taken = files.filter((pattern) => !pattern.startsWith('!'));
  const left = files.filter((pattern) => pattern.startsWith('!')).map((name) => name.slice(1));
  for (const file of ['package.json', ...globSync(taken, { cwd: ROOT, exclude: left })]) {
    cpSync(join(ROOT, file), join(folder, file), { recursive: true });
  }
}

const isPossible = inject('bubblewrapPath') !== null && inject('setprivPath') !== null;

/**
 * A normal run uses the package built by the repository; a full run builds the image from the first
 * line of the Dockerfile.
 */
describe.runIf(isPossible)('the image', () => {
  let folder = '';
  let umask = 0o022;
  let image: ContainerImage;
  beforeAll(async () => {
    // Other users must be able to read the result, whatever umask an earlier test has set.
    umask = process.umask(0o022);
    folder = mkdtempSync(join(tmpdir(), 'parley-image-'));
    chmodSync(folder, 0o755);
    const context = join(folder, 'context');
    const lines = readDockerfile(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'));
    if (!isFullRun()) {
      const prepared = join(folder, 'prepared');
      packInto(join(prepared, 'parley'));
      mkdirSync(join(prepared, MODULES), { recursive: true });
      image = await buildImage(lines, {
        context,
        folder,
        prepared: new Map([['build', prepared]]),
      });
      return;
    }
    for (const file of contextFiles()) {
      mkdirSync(dirname(join(context, file)), { recursive: true });
      cpSync(join(ROOT, file), join(context, file));
    }
    image = await buildImage(lines, { context, folder });
  }, 300_000);
  afterAll(() => {
    process.umask(umask);
    rmSync(folder, { recursive: true, force: true });
  });

  // Installs all libraries twice, as the Dockerfile does; the release check is a full run.
  if (isFullRun())
    it('[U06] contains the bundle and its dependencies, but no sources, tests or compilers', () => {
      const names = readdirSync(join(image.root, 'parley'), { recursive: true }).map(String);
      const sizes = names.map((name) => lstatSync(join(image.root, 'parley', name)).size);
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(120_000_000);
      const unwanted = /(^|\/)(apps\/.*\/src|typescript|esbuild|vitest|node-linux-[^/]*)$/;
      expect(names.filter((name) => unwanted.test(name))).toEqual([]);
    });

  it('[U06] runs as a non-root user on a read-only root, becomes healthy, answers, and shuts down gracefully', async () => {
    const home = join(folder, 'home');
    mkdirSync(home);
    if (IS_ROOT) chownSync(home, NODE_USER.uid, NODE_USER.gid);
    const words = [
      JSON.stringify([...image.entry, ...image.arguments]),
      JSON.stringify(image.health),
    ];
    const container = startContainer(image, ['node', '/tmp/in-container.ts', ...words], {
      volumes: { [image.env.PARLEY_HOME ?? '']: home },
      readable: {
        '/tmp/in-container.ts': join(import.meta.dirname, 'in-container.ts'),
        ...(!isFullRun() && { [MODULES]: join(ROOT, 'node_modules') }),
      },
    });
    const [out, problems] = await Promise.all([text(container.stdout), text(container.stderr)]);
    const seen = z.record(z.string(), z.unknown()).safeParse(JSON.parse(out || '{}'));
    expect(seen.data, problems).toMatchObject({
      healthyBefore: false,
      isHealthy: true,
      history: expect.stringContaining('"text":"hello"'),
      written: { root: 'EROFS', program: 'EROFS', temporary: 'written' },
      version: expect.stringMatching(/^parley \d/),
      code: 0,
      ...(IS_ROOT && { user: NODE_USER.uid }),
      out: expect.stringContaining('parley chat'),
    });
  });
});
