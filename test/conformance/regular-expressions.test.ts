import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findPatternRisk } from '@parley/core';
import { parseSync, Visitor } from 'oxc-parser';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');

/**
 * Ambiguous but harmless: nothing after the repetition can fail, so no alternative is ever tried.
 */
const HARMLESS: ReadonlySet<string> = new Set([
  '(?:[^\\\\`*_~[\\]<@]+|<(?= )|(?<=[A-Za-z0-9])_(?=[A-Za-z0-9]))+',
]);

interface Found {
  readonly place: string;
  readonly source: string;
  readonly flags: string;
}

/** All regular expressions in the program's source code. */
function expressionsOf(folder: string): readonly Found[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => join(folder, file))
    .filter((file) => /\/src\/.*\.tsx?$/.test(file) && !/\.test\.tsx?$|\/testing\//.test(file))
    .flatMap((file) => {
      const found: Found[] = [];
      const text = readFileSync(join(ROOT, file), 'utf8');
      const visitor = new Visitor({
        Literal(node) {
          if (!('regex' in node)) return;
          const line = text.slice(0, node.start).split('\n').length;
          const { pattern: source, flags } = node.regex;
          found.push({ place: `${file}:${line}`, source, flags });
        },
      });
      visitor.visit(parseSync(file, text).program);
      return found;
    });
}

describe("the program's regular expressions", () => {
  const all = ['packages', 'apps'].flatMap(expressionsOf);

  it('[D13] are found by the test', () => {
    expect(all.length).toBeGreaterThan(800);
  });

  it('[D13] have no repetition that can match the same text in several ways, so they cannot backtrack forever', () => {
    const risky = all.flatMap(({ place, source, flags }) => {
      const risk = HARMLESS.has(source) ? null : findPatternRisk(source, flags);
      return risk === null ? [] : [`${place}: ${risk}`];
    });
    expect(risky).toEqual([]);
  });
});
