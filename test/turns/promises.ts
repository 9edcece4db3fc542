import { readFileSync } from 'node:fs';
import { dirname, join, normalize, resolve } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';

const ROOT = resolve(import.meta.dirname, '../..');
const ID = /\[([A-Z]\d\d)\]/g;
const IMPORT = /(?:from|import\() ?'(\.[^']+\.ts)'/g;
/**
 * The rows of this table run depending on a channel's abilities, so the promises they prove are not
 * counted.
 */
const ROWS = 'test/conformance/channels/';
/** A condition that holds only on some days or in full runs. */
const NOT_ALWAYS = /\b(?:isOfDay|isWholeRun)\(/;

/** A range of a text; `end` is exclusive. */
interface TextRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The ids of the promises that a test file proves each time it runs: the ids in its titles and in
 * the tables under `test/` that it imports. A title behind a condition that only holds on some days
 * does not count.
 */
export function listPromises(file: string): ReadonlySet<string> {
  const found = new Set<string>();
  const seen = new Set<string>();
  const open = [file];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const text = readFileSync(join(ROOT, path), 'utf8');
    for (const id of findIds(path, text)) found.add(id);
    const imported = Array.from(text.matchAll(IMPORT), ([, name = '']) =>
      normalize(join(dirname(path), name)),
    );
    open.push(...imported.filter(isTable));
  }
  return found;
}

/** Whether an imported module may contain test titles. */
function isTable(path: string): boolean {
  return path.startsWith('test/') && !path.startsWith(ROWS) && !path.includes('.test.');
}

/** The ids in a source text that are not behind a condition on the day. */
export function findIds(path: string, text: string): readonly string[] {
  const ids = Array.from(text.matchAll(ID), ({ 1: id = '', index }) => ({ id, index }));
  if (ids.length === 0 || !NOT_ALWAYS.test(text)) return ids.map(({ id }) => id);
  const parts = findConditionalRanges(path, text);
  const isConditional = (at: number) => parts.some(({ start, end }) => at >= start && at < end);
  return ids.flatMap(({ id, index }) => (isConditional(index) ? [] : [id]));
}

/**
 * The code behind such a condition, including its other branch; also calls such as
 * `it.runIf(…)(…)`.
 */
function findConditionalRanges(path: string, text: string): readonly TextRange[] {
  const parts: TextRange[] = [];
  const add = (condition: TextRange, whole: TextRange): void => {
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
      if (isChosen && /\b(?:runIf|skipIf)$/.test(sliceText(callee.callee, text))) add(callee, node);
    },
  }).visit(parseSync(path, text).program);
  return parts;
}

function sliceText({ start, end }: TextRange, text: string): string {
  return text.slice(start, end);
}
