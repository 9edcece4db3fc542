import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { runCommand } from '../e2e/parley-process.ts';
import { listRepositoryFiles } from '../repository-files.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const FILES = listRepositoryFiles();
const DOCS = FILES.filter((file) => /^docs\/.*\.md$/.test(file));
/** Pages for people, without text written for the agent and without the gallery's answers. */
const PAGES = FILES.filter(
  (file) =>
    file.endsWith('.md') && !/^(config|packages\/.*\/src|test\/gallery\/answers)\//.test(file),
);

interface Node {
  readonly type: string;
  readonly url?: string | undefined;
  readonly alt?: string | null | undefined;
  readonly value?: string | undefined;
  readonly lang?: string | null | undefined;
  readonly children?: readonly Node[] | undefined;
}

/** Values for references to secrets; the platforms' tokens have fixed forms. */
const SECRETS: Readonly<Record<string, string>> = {
  DISCORD_BOT_TOKEN: `${'k'.repeat(24)}.${'k'.repeat(6)}.${'k'.repeat(27)}`,
  TELEGRAM_BOT_TOKEN: `123456789:${'k'.repeat(35)}`,
  SLACK_BOT_TOKEN: `xoxb-${'k'.repeat(30)}`,
  SLACK_APP_TOKEN: `xapp-${'k'.repeat(30)}`,
  GOOGLE_CHAT_CREDENTIALS: JSON.stringify({ client_email: 'a@example.com', private_key: 'k' }),
  GITHUB_PRIVATE_KEY: '"-----BEGIN PRIVATE KEY-----"',
};
const trees = new Map<string, Node>();

function treeOf(page: string): Node {
  const known = trees.get(page);
  if (known !== undefined) return known;
  const text = readFileSync(join(ROOT, page), 'utf8');
  const tree = fromMarkdown(text, {
    extensions: [gfm()],
    mdastExtensions: [gfmFromMarkdown()],
  });
  trees.set(page, tree);
  return tree;
}

function nodesOf(page: string, ...types: readonly string[]): Node[] {
  const walk = (node: Node): Node[] => [
    ...(types.includes(node.type) ? [node] : []),
    ...(node.children ?? []).flatMap(walk),
  ];
  return walk(treeOf(page));
}

const textOf = (node: Node): string => node.value ?? (node.children ?? []).map(textOf).join('');

const anchors = new Map<string, readonly string[]>();

/** The anchors of a page; they are cached because hundreds of links ask for them. */
function anchorsOf(page: string): readonly string[] {
  const known = anchors.get(page) ?? readAnchors(page);
  anchors.set(page, known);
  return known;
}

/** The headings of a page as GitHub names them, and explicit anchors. */
function readAnchors(page: string): string[] {
  const headings = nodesOf(page, 'heading').map((heading) =>
    textOf(heading)
      .toLowerCase()
      .replace(/[^\p{Letter}\p{Number}\s_-]/gu, '')
      .trim()
      .replace(/\s/g, '-'),
  );
  const written = nodesOf(page, 'html').flatMap(({ value = '' }) =>
    [...value.matchAll(/id="([^"]+)"/g)].map(([, id = '']) => id),
  );
  return [...headings, ...written];
}

/** Links within the repository, as the page or file and the anchor. */
function linksOf(page: string): { readonly target: string; readonly anchor: string }[] {
  return nodesOf(page, 'link', 'image', 'definition')
    .map(({ url = '' }) => url)
    .filter((url) => !/^[a-z]+:/i.test(url))
    .map((url) => {
      const [path = '', anchor = ''] = url.split('#');
      const target = path === '' ? page : relative(ROOT, resolve(ROOT, dirname(page), path));
      return { target, anchor };
    });
}

describe('the documentation', () => {
  it('[U01] links only to pages that exist, and describes its pictures in words', () => {
    const broken = PAGES.flatMap((page) =>
      linksOf(page)
        .filter(
          ({ target, anchor }) =>
            !existsSync(join(ROOT, target)) ||
            (anchor !== '' && target.endsWith('.md') && !anchorsOf(target).includes(anchor)),
        )
        .map(({ target, anchor }) => `${page}: ${target}#${anchor}`),
    );
    expect(broken).toEqual([]);
    const mute = PAGES.filter((page) => nodesOf(page, 'image').some(({ alt }) => !alt));
    expect(mute).toEqual([]);
    expect(PAGES.length).toBeGreaterThan(40);
  });

  it('[U01] leads from its first page to every other page', () => {
    const reached = new Set(['docs/README.md']);
    for (const page of reached) {
      for (const { target } of linksOf(page)) {
        if (target.startsWith('docs/') && target.endsWith('.md')) reached.add(target);
      }
    }
    expect(DOCS.filter((page) => !reached.has(page))).toEqual([]);
    expect(linksOf('README.md').map(({ target }) => target)).toContain('docs/README.md');
  });

  it('[U01] quotes only messages that exist in the sources when it explains what to do about them', () => {
    const sources = FILES.filter((file) => /\.ts$|^apps\/parley\/bin\/.*\.js$/.test(file))
      .filter((file) => !/test|^examples/.test(file))
      .map((file) => readFileSync(join(ROOT, file), 'utf8'))
      .join('\n')
      // A sentence in the sources may span several lines or contain a value.
      .replace(/'\s*\+\s*'|\$\{[^}]*\}/g, '');
    const quoted = nodesOf('docs/troubleshooting.md', 'emphasis').map(textOf);
    expect(quoted.length).toBeGreaterThan(20);
    const parts = quoted.flatMap((text) => text.split('…').map((part) => part.trim()));
    expect(parts.filter((part) => part.length > 7 && !sources.includes(part))).toEqual([]);
  });

  it('[U01] shows settings that Parley accepts', async () => {
    const schema = readFileSync(join(ROOT, 'config/parley.schema.json'), 'utf8');
    const { properties } = z
      .object({ properties: z.record(z.string(), z.unknown()) })
      .parse(JSON.parse(schema));
    const folder = mkdtempSync(join(tmpdir(), 'parley-docs-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'parley.yaml');
    const refused: string[] = [];
    let checked = 0;
    for (const page of DOCS) {
      for (const { lang, value = '' } of nodesOf(page, 'code')) {
        if (lang !== 'yaml') continue;
        // The value of a reference is long enough for any secret.
        const text = value.replace(
          /\$\{([^}]*)\}/g,
          (_all, name: string) => SECRETS[name] ?? name.padEnd(40, '-'),
        );
        const written: unknown = parse(text, { logLevel: 'error' });
        if (typeof written !== 'object' || written === null) continue;
        // A plugin would be loaded from the path in its example.
        if (!Object.keys(written).every((key) => key in properties) || 'plugins' in written)
          continue;
        checked += 1;
        writeFileSync(file, text);
        const { code, out, err } = await runCommand(['config', 'check', '--config', file]);
        if (code !== 0) refused.push(`${page}:\n${text}\n${out}${err}`);
      }
    }
    expect(refused).toEqual([]);
    expect(checked).toBeGreaterThan(20);
  });
});
