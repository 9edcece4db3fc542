import type { ChatType } from '@parley/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { getGroupMemoryFile, isGroupFile, resolveReader } from './audience.ts';
import { parseFile } from './front-matter.ts';
import { parseFileName } from './paths.ts';

const OWNERS = ['telegram:42', 'web:ann'];

describe("a turn's reader", () => {
  it.each<[string, ChatType, readonly string[], 'owner' | 'guest']>([
    ['telegram:42', 'direct', OWNERS, 'owner'],
    ['web:ann', 'direct', OWNERS, 'owner'],
    ['telegram:42', 'group', OWNERS, 'guest'],
    ['telegram:42', 'channel', OWNERS, 'guest'],
    ['telegram:42', 'thread', OWNERS, 'guest'],
    ['telegram:7', 'direct', OWNERS, 'guest'],
    ['telegram:7', 'group', OWNERS, 'guest'],
    ['discord:42', 'direct', OWNERS, 'guest'],
    ['telegram:4', 'direct', OWNERS, 'guest'],
    ['TELEGRAM:42', 'direct', OWNERS, 'guest'],
    ['telegram:42', 'direct', [], 'guest'],
    ['telegram:42', 'direct', ['*'], 'guest'],
  ])('[W02] %s in a %s chat, owners %j: %s', (id, chatType, owners, kind) => {
    expect(resolveReader({ user: { id }, chatType }, owners, 'c1')).toEqual({
      kind,
      conversationId: 'c1',
    });
  });

  it('[W02] is a guest when the answer goes to another chat, even if an owner asked', () => {
    const asked = { user: { id: 'telegram:42' }, chatType: 'direct' } as const;
    const facts = { ...asked, deliversElsewhere: true };
    expect(resolveReader(facts, OWNERS, 'c1').kind).toBe('guest');
  });
});

const audienceOf = (file: string) => parseFile('notes.md', file, false).audience.kind;

describe('the audience declared by a file', () => {
  it.each([
    ['two spellings that disagree', '---\nAudience: owner\naudience: everyone\n---\n'],
    ['the same the other way round', '---\naudience: everyone\nAUDIENCE: owner\n---\n'],
    ['an invisible character in the key', '---\naudi\u200bence: owner\n---\n'],
    ['a hard space behind the key', '---\naudience\u00a0: owner\n---\n'],
    ['full-width letters', '---\nａｕｄｉｅｎｃｅ: owner\n---\n'],
    ['an invisible character before the first line', '\u200b---\naudience: owner\n---\n'],
    ['two byte order marks', '\uFEFF\uFEFF---\naudience: owner\n---\n'],
    ['a space before the first line', ' ---\naudience: owner\n---\n'],
    ['a line of hard spaces above', '\u00a0\n---\naudience: owner\n---\n'],
  ])('[W03] is the owner with %s', (_what, head) => {
    expect(audienceOf(`${head}The safe is behind the clock.`)).toBe('owner');
  });

  it.each([
    ['keys of the author’s own that differ in case', '---\ntitle: a\nTitle: b\n---\n'],
    ['nothing', ''],
    ['a word that only resembles the key', '---\naudiences: owner\n---\n'],
  ])('[W03] is everyone with %s', (_what, head) => {
    expect(audienceOf(`${head}Water the beans.`)).toBe('everyone');
  });

  it.each(['HEARTBEAT.md', 'BOOT.md', 'BOOTSTRAP.md', 'TOOLS.md', 'prices.csv', 'a/run.sh'])(
    '[W03] is the owner for %s, unless the file declares otherwise',
    (name) => {
      const open = '---\naudience: everyone\n---\n';
      const kinds = ['', '---\ntitle: x\n---\n', open].map(
        (head) => parseFile(name, `${head}x`, false).audience.kind,
      );
      expect(kinds).toEqual(['owner', 'owner', 'everyone']);
    },
  );

  it.each(['MEMORY.md', 'Memory.MD', 'memory/2026-11-21.md', 'a/memory.md', 'ＭＥＭＯＲＹ/x.md'])(
    '[W02] is the owner for %s, even if the file declares another audience',
    (name) => {
      const open = parseFile(name, '---\naudience: everyone\n---\nx', false);
      expect(open.audience.kind).toBe('owner');
    },
  );

  it.each([
    ...['boot.md', 'Bootstrap.MD', 'ＴＯＯＬＳ.md', 'agents.md', 'AGENTS\u034f.md', 'uſer.md'],
    ...['Skills/tea/SKILL.md', 'ｓｋｉｌｌｓ/x.md', 'SKILLS/x', 'Groups/x.md', 'node_modules/x.md'],
  ])('[W03] is the owner for %s, a name that only resembles a known one', (name) => {
    const open = parseFile(name, '---\naudience: everyone\n---\nx', false);
    expect(open.audience.kind).toBe('owner');
  });

  it.each(['notes.md', 'docs/TOOLS.md', 'skills/tea/run.sh'])(
    '[W03] is everyone for %s',
    (name) => {
      expect(parseFile(name, 'x', false).audience.kind).toBe('everyone');
    },
  );
});

describe("a conversation's memory file", () => {
  it('[W04] has a name that people recognize', () => {
    expect(getGroupMemoryFile('telegram:default:-1001234')).toMatch(
      /^groups\/telegram-default-1001234-[0-9a-f]{24}\.md$/,
    );
    expect(getGroupMemoryFile('群')).toMatch(/^groups\/[0-9a-f]{24}\.md$/);
  });

  it('[W04] has a path inside the workspace, for any conversation id', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 2_500 }), (id) => {
        const name = getGroupMemoryFile(id.toWellFormed());
        expect(parseFileName(name)?.name).toBe(name);
        expect(isGroupFile(name)).toBe(true);
      }),
    );
  });

  it('[W04] differs from that of every other conversation, even on a case-insensitive disk', () => {
    const alike = ['a:b:c', 'A:b:c', 'a-b-c', 'a:b:C', 'a%3Ab:c', 'a:b:c:', `${'x'.repeat(99)}1`];
    const names = [...alike, `${'x'.repeat(99)}2`].map((id) =>
      getGroupMemoryFile(id).toLowerCase(),
    );
    expect(new Set(names).size).toBe(names.length);
  });

  it.each(['groups', 'groups/a.md', 'Groups/a.md', 'ｇroups/a.md', 'groups/deep/er.md'])(
    '[W04] recognizes a path in groups/: %s',
    (name) => {
      expect(isGroupFile(name)).toBe(true);
    },
  );

  it.each(['groups.md', 'my/groups/a.md', 'group/a.md'])(
    '[W04] recognizes a path outside groups/: %s',
    (name) => {
      expect(isGroupFile(name)).toBe(false);
    },
  );
});
