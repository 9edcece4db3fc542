import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseFile, readFrontMatter } from './front-matter.ts';
import { parseSkill } from './skills/skill-file.ts';

const Schema = z.looseObject({ title: z.string().optional() });
const read = (file: string) => readFrontMatter(file, Schema);
const witness = globalThis as { executed?: boolean };

describe('front matter', () => {
  it.each([
    ['line feeds', '---\ntitle: Soul\n---\n\nHello\n'],
    ['carriage returns', '---\r\ntitle: Soul\r\n---\r\nHello\r\n'],
    ['a byte order mark', '\uFEFF---\ntitle: Soul\n---\nHello'],
    ['blanks behind the hyphens', '---  \ntitle: Soul\n--- \t\nHello'],
    ['blank lines above', '\n  \n---\ntitle: Soul\n---\nHello'],
  ])('reads front matter with %s', (_, file) => {
    expect(read(file)).toMatchObject({ kind: 'parsed', data: { title: 'Soul' }, body: 'Hello' });
  });

  it.each([
    ['plain text', '# Soul\n\nHello', '# Soul\n\nHello'],
    ['a longer rule of hyphens', '----\nHello', '----\nHello'],
    ['a rule further down', 'Hello\n\n---\ntitle: no\n---', 'Hello\n\n---\ntitle: no\n---'],
    ['nothing', '', ''],
  ])('does not find front matter in %s', (_, file, body) => {
    expect(read(file)).toMatchObject({ kind: 'none', body });
  });

  it('accepts empty front matter', () => {
    expect(read('---\n---\nHello')).toMatchObject({ kind: 'parsed', data: {}, body: 'Hello' });
  });

  it.each(['js', 'javascript', 'JavaScript', 'json', 'coffee', 'toml', ' js'])(
    'never runs or reads a front matter block labeled %s',
    (language) => {
      const code = '(globalThis.executed = true, {title: "x"})';
      expect(read(`---${language}\n${code}\n---\nHello`)).toMatchObject({ kind: 'refused' });
      expect(witness.executed).toBeUndefined();
    },
  );

  it('does not execute code in YAML tags', () => {
    const file = '---\ntitle: !!js/function "function(){ globalThis.executed = true }"\n---\nHello';
    const result = read(file);
    expect(witness.executed).toBeUndefined();
    // An unknown tag is dropped, and its text stays a string.
    expect(result.kind === 'parsed' ? typeof result.data.title : result.kind).toBe('string');
  });

  it('refuses an alias bomb', () => {
    const levels = Array.from({ length: 12 }, (_, n) => {
      const items = n === 0 ? 'x' : Array.from({ length: 9 }, () => `*a${n - 1}`).join(',');
      return `a${n}: &a${n} [${items}]`;
    });
    expect(read(`---\n${levels.join('\n')}\n---\nHello`)).toMatchObject({
      kind: 'refused',
      body: 'Hello',
    });
  });

  it('refuses a broken file the second time as well as the first', () => {
    const broken = '---\ntitle: "open\n  more: [1\n---\nHello';
    expect(read(broken)).toMatchObject({ kind: 'refused', body: 'Hello' });
    expect(read(broken)).toMatchObject({ kind: 'refused', body: 'Hello' });
  });

  it.each([
    ['the same key twice', '---\ntitle: a\ntitle: b\n---\nHello'],
    ['a list', '---\n- a\n- b\n---\nHello'],
    ['a sentence', '---\njust words\n---\nHello'],
    ['a value of the wrong kind', '---\ntitle: [1]\n---\nHello'],
    ['a closing line with something behind it', '---\ntitle: a\n--- x\nHello'],
    ['16,000 characters', `---\ntitle: ${'a'.repeat(16_000)}\n---\nHello`],
    ['100 nested brackets that never close', `---\ntitle: ${'['.repeat(100)}\n---\nHello`],
  ])('refuses %s and keeps the text below', (_, file) => {
    expect(read(file)).toMatchObject({ kind: 'refused', body: 'Hello' });
  });

  it('refuses a block that is never closed and keeps everything', () => {
    const file = '---\naudience: owner\nHello';
    expect(read(file)).toMatchObject({ kind: 'refused', body: file });
  });

  it('returns frozen data without touching any prototype', () => {
    const result = read('---\n__proto__: {polluted: yes}\ntitle: a\n---\nHello');
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    expect(result.kind === 'parsed' && Object.isFrozen(result.data)).toBe(true);
  });
});

const audience = (name: string, raw: string): string => parseFile(name, raw, false).audience.kind;
const PUBLIC = '---\naudience: everyone\n---\nHello';

describe('the audience of a SKILL.md file', () => {
  it.each([
    ['metadata: {openclaw: {audience: owner}}', 'owner'],
    ['metadata: {Audience: owner}', 'owner'],
    [`metadata: '{"openclaw": {"audience": "owner"}}'`, 'owner'],
    ['audience: everyone\nmetadata: {audience: owner}', 'owner'],
    ['metadata: {audience: friends}', 'owner'],
    [`metadata: {openclaw:{audience:'owner'}}`, 'owner'],
    [`metadata: '{openclaw: {audience: "owner",}}'`, 'owner'],
    ['metadata: {audience: everyone}', 'everyone'],
    ['metadata: {author: Ann}', 'everyone'],
    ['metadata: a word', 'everyone'],
  ])('[W03] is the same when the skill is read as a file: %s', (front, kind) => {
    const raw = `---\nname: a\ndescription: d\n${front}\n---\nText`;
    expect(parseFile('skills/a/SKILL.md', raw, false).audience).toEqual({ kind });
    const { content } = parseSkill(raw, 'a');
    expect(content.kind === 'skill' && content.foreveryone ? 'everyone' : 'owner').toBe(kind);
  });
});

describe("a workspace file's audience", () => {
  it.each([
    ['MEMORY.md'],
    ['memory.md'],
    ['Memory.MD'],
    ['ＭＥＭＯＲＹ.md'],
    ['memory/2026-11-21.md'],
    ['Memory/deep/er.md'],
    ['groups/7/MEMORY.md'],
  ])('[W03] %s is private to the owner, even if its front matter says otherwise', (name) => {
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
  ])('[W03] is decided for a file with %s', (_, raw, kind) => {
    expect(audience('SOUL.md', raw)).toBe(kind);
  });

  it('explains what is wrong with front matter', () => {
    expect(parseFile('SOUL.md', '---\naudience: friends\n---\nHello', false).problem).toContain(
      'audience',
    );
    expect(parseFile('SOUL.md', PUBLIC, false).problem).toBeNull();
  });
});
