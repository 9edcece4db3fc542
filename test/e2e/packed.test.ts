import {
  appendFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readManifest } from '@parley/cli/bundle';
import { isFullRun } from '@parley/core/testing';
import { extract } from 'tar';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type InstalledParley, installRelease, type PackedRelease } from './packed-release.ts';
import {
  COMPILED_WITH,
  compileProject,
  linkPackages,
  openStranger,
  type StrangerFolder,
} from './packed-stranger.ts';
import { createWebClient } from './web-client.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** A data folder created and used at the last commit before schema 32, which added agents. */
const OLDER = join(import.meta.dirname, 'fixtures/data-of-schema-31.tar.gz');
const MEGABYTE = 1_000_000;
/** The maximum size of the packed file, including docs and types. */
const PACKED_BYTES = 6 * MEGABYTE;
/** The maximum disk space that the installation takes, without Node (U06). */
const INSTALLED_BYTES = 120 * MEGABYTE;

let release: PackedRelease;
beforeAll(async () => {
  release = await installRelease();
});
afterAll(() => release.remove());

const filesIn = (path: string): string[] =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));

/** The files of the package without its libraries. */
const ownFiles = (): string[] =>
  filesIn(release.installed)
    .map((file) => file.slice(release.installed.length + 1))
    .filter((file) => !file.startsWith('node_modules/'));

describe('the package that "npm run release:pack" creates', () => {
  it('[U06] contains the bundle that "npm start" runs, and neither sources nor tests', () => {
    const own = ownFiles();
    const { hash = '' } = readManifest(ROOT) ?? {};
    expect(own).toContain(`dist/${hash}/main.mjs`);
    expect(own).toContain(`dist/${hash}/page/index.html`);
    const others = own.filter((file) => file.startsWith('dist/') && !file.includes(hash));
    expect(others).toEqual(['dist/bundle.json']);
    // Examples and templates are included to be read and copied, declarations for compilers.
    const source = /(?<!\.d)\.tsx?$|\.map$|(^|\/)(src|test|testing)\//;
    const rest = own.filter((file) => !/^(examples|config\/new-plugin)\//.test(file));
    expect(rest.filter((file) => source.test(file))).toEqual([]);
    expect(own).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'CHANGELOG.md']));
    expect(release.size).toBeLessThan(PACKED_BYTES);
  });

  it('[U06] contains all pages of the documentation, which link only to files in the package', () => {
    const own = new Set(ownFiles());
    const pages = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'));
    expect(pages.filter((name) => !own.has(`docs/${name}`))).toEqual([]);
    const broken = [...own]
      .filter((file) => /^[^/]*\.md$|^(docs|examples)\/.*\.md$/.test(file))
      .flatMap((page) => {
        const text = readFileSync(join(release.installed, page), 'utf8');
        const links = [...text.matchAll(/\]\(([^)\s#]+)/g)].map(([, url = '']) => url);
        const own = links
          .filter((url) => !/^[a-z]+:/.test(url))
          .map((url) => join(dirname(page), url));
        return own
          .filter((file) => !existsSync(join(release.installed, file)))
          .map((file) => `${page}: ${file}`);
      });
    expect(broken).toEqual([]);
  });

  it('[U06] exports its modules with their types, and does not have build scripts', () => {
    const manifest = JSON.parse(readFileSync(join(release.installed, 'package.json'), 'utf8'));
    const Modules = z.record(z.string(), z.union([z.string(), z.record(z.string(), z.string())]));
    const targets = Object.values(Modules.parse(manifest.exports)).flatMap((target) =>
      typeof target === 'string' ? target : Object.values(target),
    );
    expect(targets.filter((file) => !existsSync(join(release.installed, file)))).toEqual([]);
    expect(Object.keys(manifest.exports)).toEqual(['./plugin', './testing', './package.json']);
    expect(['scripts', 'devDependencies', 'workspaces'].filter((one) => one in manifest)).toEqual(
      [],
    );
    const types = ['contract', 'plugin', 'testing'].map((name) =>
      readFileSync(join(release.installed, `types/${name}.d.ts`), 'utf8'),
    );
    expect(types.join('')).not.toContain('@parley');
  });

  if (isFullRun())
    it('[U06] does not contain a compiler, and takes at most 120 MB besides Node', () => {
      const libraries = readdirSync(join(release.installed, 'node_modules'));
      expect(libraries).toEqual(expect.arrayContaining(['discord.js', 'telegraf', 'sharp']));
      const compilers = /^(typescript|esbuild|vitest|@biomejs|turbo|@opentelemetry|react|preact)$/;
      expect(libraries.filter((name) => compilers.test(name))).toEqual([]);
      const beside = filesIn(release.installed).filter(
        (file) => !/\/node_modules\/node-\w+-\w+\//.test(file),
      );
      const bytes = beside.reduce((sum, file) => sum + lstatSync(file).blocks * 512, 0);
      expect(bytes).toBeLessThan(INSTALLED_BYTES);
    });

  it('[U06] names the license of every bundled library, and no license is a GPL', () => {
    const { hash = '' } = readManifest(ROOT) ?? {};
    const text = readFileSync(join(release.installed, 'dist', hash, 'LICENSES.txt'), 'utf8');
    const heads = [...text.matchAll(/^-{80}\n\n(\S+) (\S+), (.+)$/gm)].map(
      ([, name, , license]) => [name, license],
    );
    expect(heads).toEqual(
      expect.arrayContaining([
        ['bullmq', 'MIT'],
        ['preact', 'MIT'],
      ]),
    );
    expect(heads.filter(([, license]) => /GPL|see its text/i.test(license ?? ''))).toEqual([]);
  });
});

describe('an installed Parley', () => {
  it('[U06] starts in an empty home, answers, and shows its commands as the user types them there', async () => {
    const home = join(release.folder, 'home');
    mkdirSync(home);
    const parley = await release.start(home);
    const [, script = ''] = /src="([^"]+)"/.exec(await (await fetch(parley.address)).text()) ?? [];
    expect(await (await fetch(`${parley.address}${script}`)).text()).toContain('import');
    expect(await answerTo(parley, 'hello')).toEqual(['> hello', expect.stringContaining('<p>')]);
    expect(parley.out()).toMatch(/^or type +parley chat +\(/m);
    expect(await parley.end()).toBe(0);
  });

  it('[U06] [F03] upgrades an older data folder, and names the missing library', async () => {
    const home = join(release.folder, 'older');
    const data = join(home, '.parley');
    mkdirSync(data, { recursive: true });
    await extract({ file: OLDER, cwd: data });
    appendFileSync(join(data, 'parley.yaml'), 'channels: { telegram: { token: "1:x" } }\n');
    const library = join(release.installed, 'node_modules/telegraf');
    renameSync(library, `${library}.away`);
    const parley = await release.start(home);
    const shown = await answerTo(parley, 'hello');
    expect(shown).toEqual(expect.arrayContaining(['> hello from the older Parley', '> hello']));
    const { version } = z
      .object({ version: z.string() })
      .parse(JSON.parse(readFileSync(join(ROOT, 'node_modules/telegraf/package.json'), 'utf8')));
    expect(parley.out()).toContain('Telegram needs the library telegraf, which is not installed');
    expect(parley.out()).toContain(`npm install --global telegraf@${version}`);
    expect(await parley.end()).toBe(0);
    renameSync(`${library}.away`, library);
  });
});

describe('a third-party plugin built with only Node, npm and this package', () => {
  let stranger: StrangerFolder;
  beforeAll(async () => {
    const folder = join(release.folder, 'stranger');
    stranger = openStranger(folder, process.execPath);
    const parley = join(release.installed, 'apps/parley/bin/parley.js');
    await Promise.all([
      stranger.run('', 'node', parley, 'plugins', 'new', 'dice'),
      stranger.run('', 'node', parley, 'plugins', 'new', 'my-chat', '--channel'),
    ]);
    linkPackages(folder, { ...COMPILED_WITH, parley: release.installed });
  });

  it('[U06] [P16] compiles in strict mode, as do the examples and code that uses Chat SDK types', async () => {
    const { folder } = stranger;
    cpSync(join(release.installed, 'examples'), join(folder, 'examples'), { recursive: true });
    writeFileSync(join(folder, 'my-chat/chat-sdk.ts'), CHAT_SDK);
    const project = { extends: './dice/tsconfig.json', include: ['**/*.ts'] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(project));
    expect(await compileProject(folder)).toBe('');
  });

  it('[U06] [P16] passes its own test, and is loaded by name', async () => {
    const tests = ['dice/test.ts', 'my-chat/test.ts'];
    expect(await stranger.run('', 'node', '--test', ...tests)).toMatch(/^# pass 3$|^ℹ pass 3$/m);
    const settings = {
      model: 'offline',
      plugins: [join(stranger.folder, 'dice'), join(stranger.folder, 'my-chat')],
      channels: { 'my-chat': { url: 'http://127.0.0.1:9/' } },
    };
    mkdirSync(join(stranger.folder, 'home/.parley'));
    const file = join(stranger.folder, 'home/.parley/parley.yaml');
    writeFileSync(file, JSON.stringify(settings));
    const parley = join(release.installed, 'apps/parley/bin/parley.js');
    expect(await stranger.run('', 'node', parley, 'plugins')).toBe(
      '✓ dice brings tool dice\n✓ my-chat brings channel my-chat\n',
    );
  });

  // npm installs all packages twice.
  if (isFullRun())
    it('[U06] [P16] is created, compiled, tested and used in an empty folder with commands alone', async () => {
      const alone = openStranger(join(release.folder, 'alone'));
      await alone.run('', 'npm', 'install', release.file);
      for (const [name, ...flags] of [['dice'], ['my-chat', '--channel']] as const) {
        await alone.run('', 'npx', 'parley', 'plugins', 'new', name, ...flags);
        await alone.run(name, 'npm', 'install');
        expect(await alone.run(name, 'npx', 'tsc', '--strict')).toBe('');
        expect(await alone.run(name, 'npm', 'test')).toMatch(/fail 0$/m);
      }
      const home = join(alone.folder, 'home/.parley');
      mkdirSync(home);
      const plugins = ['dice', 'my-chat'].map((name) => join(alone.folder, name));
      const channels = { 'my-chat': { url: 'http://127.0.0.1:9/' } };
      const settings = { model: 'offline', http: { port: 0 }, plugins, channels };
      writeFileSync(join(home, 'parley.yaml'), JSON.stringify(settings));
      expect(await alone.run('', 'npx', 'parley', 'plugins')).toMatch(/✓ dice .*\n✓ my-chat /);
      // The command starts a gateway if none is running.
      const answer = await alone.ask('What time is it?', 'npx', 'parley', 'chat');
      expect(answer).toMatch(/^It is /);
      expect(readFileSync(join(home, 'parley.log'), 'utf8')).toContain('"plugin":"my-chat"');
    });
});

/** A user's code that adds a Chat SDK adapter as a channel. */
const CHAT_SDK = `
import type { Adapter, ChatInstance, Message } from 'chat';
import type { ChannelContext, InboundMessage } from 'parley/plugin';

export function toInbound(
  adapter: Adapter,
  { author, text, id, threadId }: Message,
  { account, clock }: ChannelContext<unknown>,
): InboundMessage {
  return {
    channel: adapter.name,
    account,
    messageId: id,
    chat: { id: threadId, type: 'direct' },
    sender: { id: author.userId, name: author.fullName, isBot: author.isBot === true },
    text,
    mentions: [],
    addressed: true,
    sentAt: clock(),
    variables: {},
  };
}
export type Host = Pick<ChatInstance, 'processMessage'>;
// @ts-expect-error: the types are not any.
export const wrong: InboundMessage['text'] = 7;
`;

async function answerTo(parley: InstalledParley, text: string): Promise<readonly string[]> {
  const client = createWebClient(parley);
  await client.post(text);
  await expect
    .poll(async () => (await client.history()).join('\n'))
    .toMatch(new RegExp(`^> ${text}\n<p>`, 'm'));
  return client.history();
}
