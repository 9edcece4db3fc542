import { type Document, isScalar, parseDocument, visit } from 'yaml';
import { formatPath, type SettingsProblem } from './source.ts';

type Path = (string | number)[];

/**
 * The text with the secrets that it shows hidden: those that stand at the same place of `before`, and are hidden in
 * the same way. One that has moved must be written again. Pure.
 */
export function withSecrets(
  text: string,
  before: string,
  hide: (text: string) => string,
):
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'refused'; readonly problems: readonly SettingsProblem[] } {
  // A pair of brackets would be a list.
  const readable = text.replaceAll(HIDDEN, STAND_IN);
  const [young, old] = [parseDocument(readable), parseDocument(before)];
  const problems: SettingsProblem[] = [];
  let whole = readable;
  for (const { path, from, to } of scalarsOf(young).toReversed()) {
    const shown = readable.slice(from, to);
    if (!shown.includes(STAND_IN)) continue;
    const known = sourceAt(old, before, path);
    if (known !== undefined && hide(known) === shown.replaceAll(STAND_IN, HIDDEN)) {
      whole = whole.slice(0, from) + known + whole.slice(to);
    } else problems.push({ kind: 'value', path: formatPath(path), found: HIDDEN, expected: AGAIN });
  }
  if (problems.length > 0) return { kind: 'refused', problems };
  return { kind: 'text', text: withHiddenLines(whole.replaceAll(STAND_IN, HIDDEN), before, hide) };
}

/** What stands in the place of a secret that is not shown. */
const HIDDEN = '[secret]';
const STAND_IN = 'parley-hidden-secret';
const AGAIN = 'the secret itself, written again: what stood there before was hidden';

/** Lines of comments, whole as they were. */
function withHiddenLines(text: string, before: string, hide: (text: string) => string): string {
  if (!text.includes(HIDDEN)) return text;
  const known = new Map(before.split('\n').map((line) => [hide(line), line]));
  return text
    .split('\n')
    .map((line) => (line.includes(HIDDEN) ? (known.get(line) ?? line) : line))
    .join('\n');
}

/** The values of a document and their places in its text. */
function scalarsOf(document: Document): { path: Path; from: number; to: number }[] {
  const found: { path: Path; from: number; to: number }[] = [];
  visit(document, {
    Scalar(key, node, above) {
      if (key === 'key' || node.range === undefined || node.range === null) return;
      const path = pathOf(above, key);
      found.push({ path, from: node.range[0], to: node.range[1] });
    },
  });
  return found;
}

function pathOf(above: readonly unknown[], key: unknown): Path {
  const path: Path = [];
  for (const [index, node] of above.entries()) {
    if (typeof node !== 'object' || node === null) continue;
    if ('key' in node && isScalar(node.key)) path.push(String(node.key.value));
    const next = above[index + 1];
    if ('items' in node && Array.isArray(node.items) && next !== undefined) {
      const at = node.items.indexOf(next);
      if (at >= 0 && !(typeof next === 'object' && next !== null && 'key' in next)) path.push(at);
    }
  }
  if (typeof key === 'number') path.push(key);
  return path;
}

function sourceAt(document: Document, text: string, path: Path): string | undefined {
  const node = document.getIn(path, true);
  if (!isScalar(node) || node.range === undefined || node.range === null) return undefined;
  return text.slice(node.range[0], node.range[1]);
}
