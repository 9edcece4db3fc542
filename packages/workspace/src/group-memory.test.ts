import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseFileName } from './file-name.ts';
import { groupMemoryOf, isGroupFile } from './group-memory.ts';

describe('the memory file of a conversation', () => {
  it('[W04] has a name that people recognise', () => {
    expect(groupMemoryOf('telegram:default:-1001234')).toMatch(
      /^groups\/telegram-default-1001234-[0-9a-f]{24}\.md$/,
    );
    expect(groupMemoryOf('群')).toMatch(/^groups\/[0-9a-f]{24}\.md$/);
  });

  it('[W04] is a path inside the workspace, whatever the conversation is called', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 2_500 }), (id) => {
        const name = groupMemoryOf(id.toWellFormed());
        expect(parseFileName(name)?.name).toBe(name);
        expect(isGroupFile(name)).toBe(true);
      }),
    );
  });

  it('[W04] is never that of another conversation, not even for a disk that ignores case', () => {
    const alike = ['a:b:c', 'A:b:c', 'a-b-c', 'a:b:C', 'a%3Ab:c', 'a:b:c:', `${'x'.repeat(99)}1`];
    const names = [...alike, `${'x'.repeat(99)}2`].map((id) => groupMemoryOf(id).toLowerCase());
    expect(new Set(names).size).toBe(names.length);
  });

  it.each(['groups', 'groups/a.md', 'Groups/a.md', 'ｇroups/a.md', 'groups/deep/er.md'])(
    '[W04] lies in groups/: %s',
    (name) => {
      expect(isGroupFile(name)).toBe(true);
    },
  );

  it.each(['groups.md', 'my/groups/a.md', 'group/a.md'])('is not at %s', (name) => {
    expect(isGroupFile(name)).toBe(false);
  });
});
