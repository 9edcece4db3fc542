import { toDisplayText } from '@parley/core';
import type { PhrasingContent } from 'mdast';
import type { DialectCapabilities } from '../capabilities.ts';
import { hasVisibleText, type RunMark, type TextRun } from '../document.ts';
import {
  findCommonMarks,
  isLinkable,
  joinEqualRuns,
  sliceRuns,
  spellOutLinks,
  trimOuterBreaks,
} from './runs.ts';

export interface InlineContext {
  readonly capabilities: DialectCapabilities;
  readonly addresses: ReadonlyMap<string, string>;
}

/** Text that is shown exactly as written, such as HTML or math, and not parsed any further. */
interface InlineRun extends TextRun {
  readonly literal?: true;
}

/** Flattens inline nodes into runs with only the marks that the dialect can show. */
export function toRuns(nodes: readonly PhrasingContent[], context: InlineContext): TextRun[] {
  const runs = markSpoilers(flattenInlines(nodes, [], context));
  const shown = runs.map(({ text, marks }) => ({
    text,
    marks: filterAllowedMarks(marks, context),
  }));
  return joinEqualRuns(trimOuterBreaks(shown));
}

function flattenInlines(
  nodes: readonly PhrasingContent[],
  marks: readonly RunMark[],
  context: InlineContext,
): InlineRun[] {
  const tags = findMeaningfulTags(nodes);
  let underlines = 0;
  let before: HtmlTagMeaning | undefined;
  return nodes.flatMap((node) => {
    const tag = tags.get(node);
    const afterBreak = before === 'break';
    before = tag;
    if (tag === 'break') return [{ text: '\n', marks: inside() }];
    if (tag !== undefined) {
      underlines += tag === 'underline' ? 1 : -1;
      return [];
    }
    // The line break after the tag only makes the source more readable.
    if (afterBreak && node.type === 'text' && node.value.startsWith('\n')) {
      return flattenInline({ ...node, value: node.value.slice(1) }, inside(), context);
    }
    return flattenInline(node, inside(), context);
  });

  function inside(): readonly RunMark[] {
    return underlines > 0 ? addMark(marks, { type: 'underline' }) : marks;
  }
}

function flattenInline(
  node: PhrasingContent,
  marks: readonly RunMark[],
  context: InlineContext,
): InlineRun[] {
  const inside = (mark: RunMark, children: readonly PhrasingContent[]) =>
    flattenInlines(children, addMark(marks, mark), context);
  switch (node.type) {
    case 'text':
      return [{ text: node.value, marks }];
    case 'literal':
      return [
        {
          text: node.value,
          marks: isFormulaText(node.value) ? addMark(marks, { type: 'math' }) : marks,
          literal: true,
        },
      ];
    case 'html':
      return [{ text: node.value, marks, literal: true }];
    case 'inlineCode':
      return [{ text: node.value, marks: addMark(marks, { type: 'code' }) }];
    case 'break':
      return [{ text: '\n', marks }];
    case 'strong':
      return inside({ type: 'bold' }, node.children);
    case 'emphasis':
      return inside({ type: 'italic' }, node.children);
    case 'delete':
      return inside({ type: 'strike' }, node.children);
    case 'link':
      return createLinkRuns(node.url, node.children, marks, context);
    case 'linkReference':
      return createLinkRuns(
        context.addresses.get(node.identifier) ?? '',
        node.children,
        marks,
        context,
      );
    case 'image':
      return createImageRuns(node.url, node.alt, marks, context);
    case 'imageReference':
      return createImageRuns(
        context.addresses.get(node.identifier) ?? '',
        node.alt,
        marks,
        context,
      );
    case 'footnoteReference':
      return [{ text: `[${node.label ?? node.identifier}]`, marks }];
  }
}

/** Whether literal text is math. */
function isFormulaText(text: string): boolean {
  return /^(?:\$[\s\S]+\$|\\\([\s\S]+\\\)|\\\[[\s\S]+\\\])$/.test(text);
}

function createLinkRuns(
  url: string,
  children: readonly PhrasingContent[],
  marks: readonly RunMark[],
  context: InlineContext,
): InlineRun[] {
  const mark: RunMark = { type: 'link', url: toDisplayText(url.replaceAll(/\p{Cc}/gu, '')) };
  const runs = flattenInlines(children, addMark(marks, mark), context);
  const shown = runs.some(({ text }) => hasVisibleText(text))
    ? runs
    : [{ text: url, marks: addMark(marks, mark) }];
  const rule = context.capabilities.links;
  return rule === undefined || isLinkable(url, rule) ? shown : spellOutLinks(shown);
}

/**
 * An image becomes a link to it, named by its alternative text. Inside a link only the name of the
 * image is kept, as for an image whose URL embeds its data, which would fill pages.
 */
function createImageRuns(
  url: string,
  alt: string | null | undefined,
  marks: readonly RunMark[],
  context: InlineContext,
): TextRun[] {
  const isInside = /^data:image\//i.test(url);
  const value = alt && hasVisibleText(alt) ? alt : isInside ? '🖼' : url;
  if (isInside || marks.some(({ type }) => type === 'link')) return [{ text: value, marks }];
  return createLinkRuns(url, [{ type: 'text', value }], marks, context);
}

function addMark(marks: readonly RunMark[], mark: RunMark): readonly RunMark[] {
  return marks.some(({ type }) => type === mark.type) ? marks : [...marks, mark];
}

function filterAllowedMarks(
  all: readonly RunMark[],
  { capabilities }: InlineContext,
): readonly RunMark[] {
  const known = ({ type }: RunMark) => type === 'link' || capabilities.marks.includes(type);
  const marks = all.every(known) ? all : all.filter(known);
  if (capabilities.marksOnCode || !marks.some(({ type }) => type === 'code')) return marks;
  const counts = marks.some(({ type }) => type === 'link' || type === 'spoiler');
  // A link's URL is content, and hidden text stays hidden; the code font may be dropped.
  return marks.filter(({ type }) => (counts ? type !== 'code' : type === 'code'));
}

/** Puts a mark around all runs, following the dialect's rules. */
export function addMarkToRuns(
  runs: readonly TextRun[],
  mark: RunMark,
  context: InlineContext,
): TextRun[] {
  return runs.map(({ text, marks }) => {
    const others = marks.filter(({ type }) => type !== mark.type);
    return { text, marks: filterAllowedMarks([mark, ...others], context) };
  });
}

/**
 * The rule is as strict as for emphasis, so that `a || b || c` in an answer about code stays
 * unchanged.
 */
const SPOILER = /(?<![\p{L}\p{N}|\0])\|\|(?!\s)((?:(?!\|\|).)+)(?<!\s)\|\|(?![\p{L}\p{N}|\0])/gsu;
const BARS = 2;

/**
 * Whether bars are the norm of a vector: a single letter between bars in a formula, as in `||u|| +
 * ||v||`.
 */
function isVectorNorm(hidden: string, before: string, after: string): boolean {
  const isLetter = /^[A-Za-z\u03b1-\u03c9](?:_?\d)?$/.test(hidden);
  return isLetter && (/[=<>≤≥+*·×/-]\s?$/.test(before) || /^\s?[=<>≤≥+*·×/^²-]/.test(after));
}

/** `||hidden||` becomes a spoiler when the bars touch the hidden text and no word outside. */
function markSpoilers(runs: readonly InlineRun[]): readonly TextRun[] {
  if (!runs.some(({ text }) => text.includes('||'))) return runs;
  const text = runs.map(replaceBars).join('');
  const marked: TextRun[] = [];
  let from = 0;
  for (const { index, 1: hidden = '' } of text.matchAll(SPOILER)) {
    const start = index + BARS;
    const end = start + hidden.length;
    const [before, after] = [text.slice(Math.max(0, index - 2), index), text.slice(end + BARS)];
    if (isVectorNorm(hidden, before, after.slice(0, 2))) continue;
    // A spoiler is inside the marks shared by its whole text and around all others.
    const shared = sliceRuns(runs, index, end + BARS).map(({ marks }) => marks);
    const outer = shared.reduce(findCommonMarks).length;
    const spoiler = sliceRuns(runs, start, end).map(({ text, marks }) => ({
      text,
      marks: [...marks.slice(0, outer), { type: 'spoiler' as const }, ...marks.slice(outer)],
    }));
    marked.push(...sliceRuns(runs, from, index), ...spoiler);
    from = end + BARS;
  }
  return [...marked, ...sliceRuns(runs, from, text.length)];
}

/** The text of a run, with unmatched bars replaced by NUL, which never occurs in text. */
function replaceBars({ text, marks, literal }: InlineRun): string {
  const isCode = marks.some(({ type }) => type === 'code' || type === 'link');
  return literal || isCode ? text.replaceAll('|', '\0') : text;
}

/** The meaning of an HTML tag for which Markdown has no syntax. */
type HtmlTagMeaning = 'underline' | 'end' | 'break';

const OPENING: ReadonlyMap<string, string> = new Map([
  ['<u>', '</u>'],
  ['<ins>', '</ins>'],
]);
const CLOSING: ReadonlySet<string> = new Set(OPENING.values());
const NO_TAGS: ReadonlyMap<PhrasingContent, HtmlTagMeaning> = new Map();
const BREAK = /^<br\s*\/?>$/i;

/** Whether this HTML is a line break. */
export function isLineBreak(html: string): boolean {
  return BREAK.test(html);
}

/**
 * The meaningful tags among these siblings: line breaks, and underlines that begin and end within
 * them, properly nested. All other HTML is text.
 */
function findMeaningfulTags(
  siblings: readonly PhrasingContent[],
): ReadonlyMap<PhrasingContent, HtmlTagMeaning> {
  if (!siblings.some(({ type }) => type === 'html')) return NO_TAGS;
  const tags = new Map<PhrasingContent, HtmlTagMeaning>();
  const open: { readonly node: PhrasingContent; readonly ends: string }[] = [];
  const waiting = new Map<string, number>();
  const count = (tag: string, change: number) => {
    waiting.set(tag, (waiting.get(tag) ?? 0) + change);
  };
  for (const node of siblings) {
    if (node.type !== 'html') continue;
    const html = node.value.toLowerCase();
    const ends = OPENING.get(html);
    if (isLineBreak(html)) tags.set(node, 'break');
    else if (ends !== undefined) {
      open.push({ node, ends });
      count(ends, 1);
    } else if (CLOSING.has(html) && (waiting.get(html) ?? 0) > 0) {
      let last = open.pop();
      for (; last !== undefined && last.ends !== html; last = open.pop()) count(last.ends, -1);
      if (last === undefined) continue;
      count(html, -1);
      tags.set(last.node, 'underline').set(node, 'end');
    }
  }
  return tags;
}
