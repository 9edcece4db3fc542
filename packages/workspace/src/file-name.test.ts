import { describe, expect, it } from 'vitest';
import { parseFileName } from './file-name.ts';

describe('a path inside the workspace', () => {
  it.each(['AGENTS.md', 'memory/2026-11-21.md', 'knowledge/Grüße aus Köln.md', '笔记.md'])(
    'may be %s',
    (name) => {
      expect(parseFileName(name)?.segments.join('/')).toBe(name);
    },
  );

  it.each([
    '',
    '..',
    '../secret.md',
    'notes/../../secret.md',
    '/etc/passwd',
    'a//b.md',
    './AGENTS.md',
    '.git/config',
    'a\\..\\b.md',
    'C:\\secret.md',
    'MEMORY.md::$DATA',
    'MEMORY.md.',
    'MEMORY.md ',
    'a\0.md',
    'a\n.md',
    'MEM\u200bORY.md',
    `${'a/'.repeat(9)}b.md`,
    `${'a'.repeat(240)}.md`,
  ])('[W07] may not be %j', (name) => {
    expect(parseFileName(name)).toBeNull();
  });
});
