import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listRepositoryFiles } from './repository-files.ts';

// A style that does not match any element stays in the file for years, because a reader cannot tell
// that it is dead. Every class, id, animation and custom property of the style sheets must
// therefore be named by a source that renders.

const ROOT = resolve(import.meta.dirname, '..');
const paths = listRepositoryFiles();
/**
 * The page, and the code that prints HTML for it: the printers of answers and of messages drawn as
 * on the platforms.
 */
const DRAWS =
  /^(apps\/console\/src\/.*\.(tsx?|html)|packages\/(markup\/src|simulators\/src\/play\/draw)\/.*\.ts|test\/gallery\/.*\.ts)$/;
const drawing = paths.filter((path) => DRAWS.test(path) && !path.includes('.test.')).map(read);
/**
 * The sources that spell out the possible values of composed class names such as
 * `is-${state.kind}`.
 */
const typed = paths
  .filter((path) => /^(apps|packages)\/[^/]+\/src\/.*\.tsx?$/.test(path))
  .map(read);

const words = new Set(drawing.flatMap(quotedWords));
const prefixes = [...new Set(drawing.join('\n').match(/[a-z][a-z-]*-(?=\$\{)/g) ?? [])];
const values = new Set(typed.flatMap((text) => text.match(/(?<=['"])[\w-]+(?=['"])/g) ?? []));
const numbers = /^\d+$/;
/** The classes of the libraries that render formulas and the editor. */
const OF_LIBRARIES = /^(tml|cm)-/;

const sheets = paths.filter((path) => /^apps\/console\/.*\.css$/.test(path));
const styles = sheets.map((path) => ({ path, text: plainCss(read(path)) }));
const all = styles.map(({ text }) => text).join('\n');

describe("the page's style sheets", () => {
  it('[U03] contain only classes and ids that something renders', () => {
    const unused = styles.flatMap(({ path, text }) =>
      selectorNames(text)
        .filter((name) => !isDrawn(name))
        .map((name) => `${path}: ${name}`),
    );
    expect([...new Set(unused)]).toEqual([]);
    expect(new Set(selectorNames(all)).size).toBeGreaterThan(100);
  });

  it('[U03] contain only animations and custom properties that some style uses', () => {
    const animations = all.matchAll(/@keyframes ([\w-]+)/g);
    const properties = all.matchAll(/(?<=[{;\s])(--[\w-]+):/g);
    const made = [...animations, ...properties].map(([, name = '']) => name);
    const isUsed = (name: string) =>
      new RegExp(name.startsWith('--') ? `var\\(${name}[,)]` : `animation[^;]*\\b${name}\\b`).test(
        all,
      );
    expect([...new Set(made)].filter((name) => !isUsed(name))).toEqual([]);
    const used = new Set(Array.from(all.matchAll(/var\((--[\w-]+)\)/g), ([, name = '']) => name));
    expect([...used].filter((name) => !made.includes(name))).toEqual([]);
  });
});

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** A style sheet without comments and strings, whose words are not selectors. */
function plainCss(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/"[^"\n]*"/g, '""');
}

/** The classes and ids of all selectors, which precede a `{`; declarations end with `;`. */
function selectorNames(css: string): readonly string[] {
  const preludes = css.match(/[^{};]+(?=\{)/g) ?? [];
  const selectors = preludes.filter((text) => !/^\s*@/.test(text)).join(' ');
  return Array.from(selectors.matchAll(/[.#]([a-z][\w-]*)/g), ([, name = '']) => name);
}

/**
 * The words of all quoted and backquoted strings; comments, and text between tags, do not name
 * classes.
 */
function quotedWords(source: string): readonly string[] {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/ .*$/gm, '');
  const texts = code.match(/'[^'\n]*'|"[^"\n]*"|`[^`]*`/g) ?? [];
  return texts.flatMap((text) => text.match(/[\w-]+/g) ?? []);
}

/**
 * Whether a source names a class, or composes it from a prefix and a value that some type lists.
 */
function isDrawn(name: string): boolean {
  if (words.has(name) || OF_LIBRARIES.test(name)) return true;
  return prefixes.some((prefix) => {
    const rest = name.slice(prefix.length);
    return name.startsWith(prefix) && (values.has(rest) || numbers.test(rest));
  });
}
