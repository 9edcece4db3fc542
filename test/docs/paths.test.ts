import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { CHAT_COMMANDS } from '../../packages/channels/src/commands/list.ts';
import { isListed } from '../../packages/channels/src/commands/permission.ts';
import { listRepositoryFiles } from '../repository-files.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const FILES = listRepositoryFiles();
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** Pages for people, without text that the agent reads and without samples. */
const PAGES = FILES.filter(
  (file) =>
    file.endsWith('.md') && !/^(config|packages\/.*\/src|test\/(gallery|corpus))\//.test(file),
);

/** Code, help texts, templates and scripts that may name a page in docs. */
const SOURCES = FILES.filter(
  (file) =>
    /\.(ts|tsx|js|ya?ml|json|sh)$|(^|\/)(Dockerfile|run)$/.test(file) &&
    !/(^|\/)(corpus|fixtures|golden)\/|package-lock|parley\.schema/.test(file),
);

/** The code spans on a page, outside code blocks. */
function codeSpans(page: string): readonly string[] {
  const text = read(page).replaceAll(/^ *```[\s\S]*?^ *```/gm, '');
  return [...text.matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span);
}

describe('paths in the documentation and in product texts', () => {
  it('[U01] sources name only pages in docs that exist', () => {
    const named = SOURCES.flatMap((file) =>
      [...read(file).matchAll(/(?<![\w/.-])docs\/[a-z][\w-]*\.md/g)].map(([page]) => ({
        file,
        page,
      })),
    ).filter(({ file }) => file !== 'test/docs/paths.test.ts');
    expect(named.filter(({ page }) => !existsSync(join(ROOT, page)))).toEqual([]);
    expect(named.length).toBeGreaterThan(40);
  });

  it('[U01] pages name only files and folders in the repository that exist', () => {
    const named = PAGES.flatMap((page) =>
      codeSpans(page)
        .filter((span) => /^(apps|packages|docs|examples|lint|test)\/[\w./-]+$/.test(span))
        .filter((span) => !/NAME|\.\.\./.test(span))
        .map((path) => ({ page, path })),
    );
    const exists = (path: string) =>
      existsSync(join(ROOT, path)) || FILES.some((file) => file.startsWith(path));
    expect(named.filter(({ path }) => !exists(path))).toEqual([]);
    expect(named.length).toBeGreaterThan(30);
  });

  it('[U01] pages name only source files that exist', () => {
    // The page on plugins names files that its readers create.
    const pages = PAGES.filter((page) => page !== 'docs/new-plugin.md');
    const missing = pages.flatMap((page) =>
      codeSpans(page)
        .filter((span) => /^[\w./-]*[\w-]\.(ts|tsx|css|mjs)$/.test(span))
        .filter((span) => !/NAME|^(\.|index\.ts|types\/)/.test(span))
        .filter((span) => !FILES.some((file) => `/${file}`.endsWith(`/${span}`)))
        .map((span) => `${page}: ${span}`),
    );
    expect(missing).toEqual([]);
  });

  it('[U01] pages name only scripts in package.json that exist', () => {
    const { scripts } = JSON.parse(read('package.json'));
    const named = PAGES.flatMap((page) =>
      [...read(page).matchAll(/\bnpm run ([\w:-]+)/g)].map(([, script = '']) => script),
    );
    expect(named.filter((script) => !(script in scripts))).toEqual([]);
    expect(named).toContain('check');
  });

  it('[U01] the index of docs leads to every page, by use, operation and extension', () => {
    const index = read('docs/README.md');
    const pages = FILES.filter((file) => /^docs\/(?!README)[\w-]+\.md$/.test(file));
    const missing = pages.filter((page) => !index.includes(`](${page.replace('docs/', '')})`));
    expect(missing).toEqual([]);
    expect(index.match(/^## .*$/gm)).toEqual(['## Use', '## Operate', '## Extend']);
  });

  it('[U01] the README of the project is one screen without tables', () => {
    const lines = read('README.md').trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(80);
    expect(lines.filter((line) => line.startsWith('|'))).toEqual([]);
    expect(lines.filter((line) => line.startsWith('!['))).toHaveLength(1);
  });

  it('[F09] docs/chat-commands.md describes every chat command', () => {
    const rows = read('docs/chat-commands.md')
      .split('\n')
      .filter((line) => line.startsWith('| `'));
    const missing = CHAT_COMMANDS.filter(isListed).filter(
      ({ name }) => !rows.some((row) => row.includes(`\`/${name}`)),
    );
    expect(missing.map(({ name }) => name)).toEqual([]);
  });

  it('[U01] the issue forms have the fields that GitHub requires', () => {
    const Form = z.object({
      name: z.string(),
      description: z.string(),
      labels: z.array(z.string()),
      body: z
        .array(
          z.object({
            type: z.enum(['markdown', 'textarea', 'input', 'dropdown', 'checkboxes']),
            id: z.string().optional(),
            attributes: z.looseObject({ label: z.string().optional() }),
          }),
        )
        .min(1),
    });
    const forms = FILES.filter((file) => /^\.github\/ISSUE_TEMPLATE\/(?!config)/.test(file));
    for (const form of forms) {
      const { body } = Form.parse(parse(read(form)));
      const asked = body.filter(({ type }) => type !== 'markdown');
      expect(asked.filter(({ id, attributes }) => !id || !attributes.label)).toEqual([]);
    }
    expect(forms.length).toBe(2);
  });
});
