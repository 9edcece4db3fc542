import type { DiscordNode } from './markdown-node.ts';
import { endOfRun, type ReadState, type Rule, startsIndentedLine } from './markdown-rule.ts';

/** The client reads no list deeper than this. */
const MAX_LEVEL = 11;
const MAX_START = 1_000_000_000;
const MARKER = /( *)([*-]|\d+\.) /y;

/**
 * Lists with `-`, `*` or `1.`, by the client's rules of 2026: bullets and numbers mix in one list, the
 * first one decides; the list ends where a line is neither indented nor an item, so also at an empty
 * line; an item ends where an item follows that is indented as far as the first or one space more.
 */
export const readList: Rule = (source, at, state, read) => {
  if (state.listLevel >= MAX_LEVEL) return undefined;
  const from = listStart(source, at, state);
  const marker = from === undefined ? undefined : markerAt(source, from);
  if (from === undefined || marker === undefined) return undefined;
  const end = endOfList(source, from, marker.indent);
  if (end === undefined) return undefined;
  const text = source.slice(from, end).replace(/\n{2,}$/, '\n');
  const ordered = marker.sign.length > 1;
  const start = Math.min(MAX_START, Math.max(1, Number.parseInt(marker.sign, 10)));
  let loose = false;
  const contents = splitItems(text, marker.indent.length).map((item, index, all) => {
    const content = itemContent(item, marker.width);
    loose = content.includes('\n\n') || (index === all.length - 1 && loose);
    return { content: content.replace(/ *\n$/, loose ? '\n\n' : ''), loose };
  });
  const items = contents.map((item) =>
    read(item.content, {
      ...state,
      inline: !item.loose,
      headings: false,
      listLevel: state.listLevel + 1,
    }),
  );
  return {
    end,
    nodes: [
      {
        type: 'list',
        start: ordered ? start : undefined,
        items: items.map((item) => item.map(withoutLineEnd)),
        joined: items.some(joinsLines),
        loose: contents.some((item) => item.loose),
      },
    ],
  };
};

/** At a line's start, or one character before it, where what came before ended without a line end. */
function listStart(source: string, at: number, state: ReadState): number | undefined {
  if (source[at] !== '\n') return startsIndentedLine(state) ? at : undefined;
  return startsIndentedLine(state) ? undefined : at + 1;
}

function markerAt(source: string, at: number) {
  MARKER.lastIndex = at;
  const [whole, indent, sign] = MARKER.exec(source) ?? [];
  if (whole === undefined || indent === undefined || sign === undefined) return undefined;
  return { indent, sign, width: endOfRun(source, at + whole.length, ' ') - at };
}

function endOfList(source: string, at: number, indent: string): number | undefined {
  const text = at + indent.length;
  let end = source.indexOf(' ', text) + 2;
  if (end > source.length) return undefined;
  end = source.indexOf('\n', end);
  while (end >= 0) {
    const next = end + 1;
    const isItem = source.startsWith(indent, next) && isMarker(source, next + indent.length);
    if (source[next] !== ' ' && !isItem) return next;
    end = source.indexOf('\n', next);
  }
  return source.length;
}

/** Cuts the list before every line that is an item at its level. */
function splitItems(text: string, indent: number): string[] {
  const items: string[] = [];
  let from = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
    const spaces = endOfRun(text, at + 1, ' ') - at - 1;
    if (spaces < indent || spaces > indent + 1 || !isMarker(text, at + 1 + spaces)) continue;
    items.push(text.slice(from, at + 1));
    from = at + 1;
  }
  if (from < text.length) items.push(text.slice(from));
  return items;
}

function isMarker(text: string, at: number): boolean {
  MARKER.lastIndex = at;
  return text[at] !== ' ' && MARKER.test(text);
}

/** Without its marker, and every line without as many spaces as the list's first marker is wide. */
function itemContent(item: string, width: number): string {
  return item.replace(/^ *(?:[*-]|\d+\.) +/, '').replaceAll(new RegExp(`^ {1,${width}}`, 'gm'), '');
}

const LINE_END = /\n+\s*$/;
const BLOCKS: readonly string[] = ['list', 'quote', 'codeBlock', 'subtext'];

/** The client takes line ends off every text directly in an item, meant for those before blocks. */
function withoutLineEnd(node: DiscordNode): DiscordNode {
  return node.type === 'text' ? { ...node, text: node.text.replace(LINE_END, '') } : node;
}

function joinsLines(item: readonly DiscordNode[]): boolean {
  return item.some((node, index) => {
    if (node.type !== 'text' || !LINE_END.test(node.text)) return false;
    const next = item[index + 1];
    const isFirst = index === 0 && node.text.trim() === '';
    return !isFirst && next !== undefined && !BLOCKS.includes(next.type);
  });
}
