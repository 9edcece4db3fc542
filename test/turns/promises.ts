import { readFileSync } from 'node:fs';
import { dirname, join, normalize, resolve } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';

const ROOT = resolve(import.meta.dirname, '../..');
const ID = /\[([A-Z]\d\d)\]/g;
const IMPORT = /(?:from|import\() ?'(\.[^']+\.ts)'/g;
/** The rows of this table run in part, by what a channel can do: what they prove is not counted. */
const ROWS = 'test/conformance/channels/';
/** A condition that holds on some days or in whole runs alone. */
const NOT_ALWAYS = /\b(?:isOfDay|isWholeRun)\(/;

/** A part of a text, from its first character to the one behind it. */
interface Part {
  readonly start: number;
  readonly end: number;
}

/**
 * The promises, by their ids, that a test file proves each time it runs: those in its titles and in the tables under
 * `test/` that it imports. A title behind a condition that holds on some days alone does not count.
 */
export function promisesOf(file: string): ReadonlySet<string> {
  const found = new Set<string>();
  const seen = new Set<string>();
  const open = [file];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const text = readFileSync(join(ROOT, path), 'utf8');
    for (const id of idsIn(path, text)) found.add(id);
    const imported = Array.from(text.matchAll(IMPORT), ([, name = '']) =>
      normalize(join(dirname(path), name)),
    );
    open.push(...imported.filter(isTable));
  }
  return found;
}

/** Whether titles of a test may stand in a module that it imports. */
function isTable(path: string): boolean {
  return path.startsWith('test/') && !path.startsWith(ROWS) && !path.includes('.test.');
}

/** The ids in a source text that are not behind a condition of days. */
export function idsIn(path: string, text: string): readonly string[] {
  const ids = Array.from(text.matchAll(ID), ({ 1: id = '', index }) => ({ id, index }));
  if (ids.length === 0 || !NOT_ALWAYS.test(text)) return ids.map(({ id }) => id);
  const parts = conditionalParts(path, text);
  const isConditional = (at: number) => parts.some(({ start, end }) => at >= start && at < end);
  return ids.flatMap(({ id, index }) => (isConditional(index) ? [] : [id]));
}

/** What stands behind a condition that does not always hold, with its other branch; and calls such as `it.runIf(…)(…)`. */
function conditionalParts(path: string, text: string): readonly Part[] {
  const parts: Part[] = [];
  const add = (condition: Part, whole: Part): void => {
    if (NOT_ALWAYS.test(text.slice(condition.start, condition.end))) parts.push(whole);
  };
  new Visitor({
    IfStatement(node) {
      add(node.test, node);
    },
    ConditionalExpression(node) {
      add(node.test, node);
    },
    LogicalExpression(node) {
      add(node.left, node);
    },
    CallExpression(node) {
      const { callee } = node;
      const isChosen =
        callee.type === 'CallExpression' && callee.callee.type === 'MemberExpression';
      if (isChosen && /\b(?:runIf|skipIf)$/.test(textOf(callee.callee, text))) add(callee, node);
    },
  }).visit(parseSync(path, text).program);
  return parts;
}

function textOf({ start, end }: Part, text: string): string {
  return text.slice(start, end);
}
