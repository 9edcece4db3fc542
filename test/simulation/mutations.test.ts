import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MUTATIONS } from './mutations.ts';

const ROOT = join(import.meta.dirname, '../..');

describe('the planted faults', () => {
  it.each(MUTATIONS)(
    '[D17] contain the text of "$name" exactly once in $file',
    ({ file, text, by }) => {
      const source = readFileSync(join(ROOT, file), 'utf8');
      expect(source.split(text).length - 1).toBe(1);
      expect(by).not.toBe(text);
    },
  );

  it('[D17] have unique names, which select them on the command line', () => {
    const names = MUTATIONS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });
});
