import { describe, expect, it } from 'vitest';
import { parseFile } from './parse-file.ts';
import { parseSkill } from './skills/parse-skill.ts';

const audience = (name: string, raw: string): string => parseFile(name, raw, false).audience.kind;
const PUBLIC = '---\naudience: everyone\n---\nHello';

describe('the audience of a file that is a skill', () => {
  it.each([
    ['metadata: {openclaw: {audience: owner}}', 'owner'],
    ['metadata: {Audience: owner}', 'owner'],
    [`metadata: '{"openclaw": {"audience": "owner"}}'`, 'owner'],
    ['audience: everyone\nmetadata: {audience: owner}', 'owner'],
    ['metadata: {audience: friends}', 'owner'],
    ['metadata: {audience: everyone}', 'everyone'],
    ['metadata: {author: Ann}', 'everyone'],
    ['metadata: a word', 'everyone'],
  ])('[W03] is the same for whoever reads it as a file: %s', (front, kind) => {
    const raw = `---\nname: a\ndescription: d\n${front}\n---\nText`;
    expect(parseFile('skills/a/SKILL.md', raw, false).audience).toEqual({ kind });
    const { content } = parseSkill(raw, 'a');
    expect(content.kind === 'skill' && content.foreveryone ? 'everyone' : 'owner').toBe(kind);
  });
});

describe('the audience of a workspace file', () => {
  it.each([
    ['MEMORY.md'],
    ['memory.md'],
    ['Memory.MD'],
    ['ＭＥＭＯＲＹ.md'],
    ['memory/2026-11-21.md'],
    ['Memory/deep/er.md'],
    ['groups/7/MEMORY.md'],
  ])('[W03] %s is the owner’s, whatever its front matter says', (name) => {
    expect(audience(name, PUBLIC)).toBe('owner');
    expect(audience(name, 'Hello')).toBe('owner');
  });

  it.each([
    ['no front matter', 'Hello', 'everyone'],
    ['audience: owner', '---\naudience: owner\n---\nHello', 'owner'],
    ['Audience: owner', '---\nAudience: owner\n---\nHello', 'owner'],
    ['a blank line above it', '\n---\naudience: owner\n---\nHello', 'owner'],
    ['audience: everyone', PUBLIC, 'everyone'],
    ['other keys alone', '---\ntitle: Soul\n---\nHello', 'everyone'],
    ['an unknown audience', '---\naudience: friends\n---\nHello', 'owner'],
    ['an empty audience', '---\naudience:\n---\nHello', 'owner'],
    ['broken front matter', '---\naudience: "owner\n---\nHello', 'owner'],
    ['front matter in code', '---js\n{}\n---\nHello', 'owner'],
    ['front matter that is never closed', '---\naudience: owner\n\nHello', 'owner'],
  ])('[W03] with %s', (_, raw, kind) => {
    expect(audience('SOUL.md', raw)).toBe(kind);
  });

  it('says what is wrong with front matter', () => {
    expect(parseFile('SOUL.md', '---\naudience: friends\n---\nHello', false).problem).toContain(
      'audience',
    );
    expect(parseFile('SOUL.md', PUBLIC, false).problem).toBeNull();
  });
});
