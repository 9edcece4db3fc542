import { describe, expect, it } from 'vitest';
import { parseFile } from './parse-file.ts';

const audienceOf = (file: string) => parseFile('notes.md', file, false).audience.kind;

describe('for whom a file says it is', () => {
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
  ])('[W03] is everybody with %s', (_what, head) => {
    expect(audienceOf(`${head}Water the beans.`)).toBe('everyone');
  });

  it.each(['HEARTBEAT.md', 'boot.md', 'Bootstrap.MD', 'ＴＯＯＬＳ.md', 'prices.csv', 'a/run.sh'])(
    '[W03] is the owner for %s, unless it says otherwise',
    (name) => {
      const open = '---\naudience: everyone\n---\n';
      const kinds = ['', '---\ntitle: x\n---\n', open].map(
        (head) => parseFile(name, `${head}x`, false).audience.kind,
      );
      expect(kinds).toEqual(['owner', 'owner', 'everyone']);
    },
  );

  it.each(['notes.md', 'docs/TOOLS.md', 'skills/tea/run.sh'])(
    '[W03] is everybody for %s',
    (name) => {
      expect(parseFile(name, 'x', false).audience.kind).toBe('everyone');
    },
  );
});
