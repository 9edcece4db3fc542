import type { DialectCapabilities, LinkRule } from '../capabilities.ts';
import type { RunMark, TextRun } from '../document.ts';

/**
 * Removes the blank lines at the beginning and end of runs, which have no text to separate.
 * @param isFlush also removes the space at the start of their first line.
 */
export function trimOuterBreaks(all: readonly TextRun[], isFlush = false): TextRun[] {
  const text = all.map(getWhiteSpaceShape).join('');
  // A line with visible content keeps its leading space.
  const from = (isFlush ? /^\s*/ : /^\s*\n/).exec(text)?.[0].length ?? 0;
  const shown = text.trimEnd().length;
  const to = text.includes('\n', shown) ? shown : text.length;
  return sliceRuns(all, from, to);
}

export function sliceRuns(runs: readonly TextRun[], from: number, to: number): TextRun[] {
  const sliced: TextRun[] = [];
  let at = 0;
  for (const run of runs) {
    if (at >= to) break;
    const text = run.text.slice(Math.max(from - at, 0), to - at);
    at += run.text.length;
    if (text !== '') sliced.push(text === run.text ? run : { ...run, text });
  }
  return sliced;
}

/** The shape of text in which only whitespace matters; whitespace in code is visible. */
function getWhiteSpaceShape({ text, marks }: TextRun): string {
  return marks.some(({ type }) => type === 'code') ? 'x'.repeat(text.length) : text;
}

/** Joins adjacent runs with the same marks. */
export function joinEqualRuns(runs: readonly TextRun[]): TextRun[] {
  const joined: TextRun[] = [];
  for (const run of runs) {
    const last = joined.at(-1);
    if (run.text === '') continue;
    if (last !== undefined && hasSameMarks(last.marks, run.marks)) {
      joined[joined.length - 1] = { text: last.text + run.text, marks: last.marks };
    } else joined.push(run);
  }
  return joined;
}

function hasSameMarks(a: readonly RunMark[], b: readonly RunMark[]): boolean {
  return a.length === b.length && a.every((mark, index) => isSameMark(mark, b[index]));
}

/** Two links or formulas are equal only if they are the same element of the source. */
export function isSameMark(a: RunMark, b: RunMark | undefined): boolean {
  const isOne = a.type === 'link' || a.type === 'math';
  return a === b || (!isOne && a.type === b?.type);
}

/** The common leading marks of two runs. */
export function findCommonMarks(a: readonly RunMark[], b: readonly RunMark[]): readonly RunMark[] {
  const differs = a.findIndex((mark, at) => !isSameMark(mark, b[at]));
  return differs < 0 ? a : a.slice(0, differs);
}

/**
 * Whether the dialect can show this URL as a link with text; relative and unusual URLs never
 * qualify.
 */
export function isLinkable(url: string, rule: LinkRule): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  if (!rule.schemes.includes(protocol) || rule.notifying?.test(url)) return false;
  if (!rule.dottedHostOnly || protocol === 'mailto:') return true;
  return hostname.includes('.') || hostname.startsWith('[');
}

/** Whether the text already shows the URL, as a bare URL does. */
export function containsUrl(text: string, url: string): boolean {
  return text === url || url === `http://${text}` || url === `mailto:${text}`;
}

/** Removes link marks from runs; each URL follows in parentheses, so that it is not lost. */
export function spellOutLinks(runs: readonly TextRun[]): TextRun[] {
  const out: TextRun[] = [];
  for (const [index, run] of runs.entries()) {
    const link = findLink(run);
    out.push(link === undefined ? run : { ...run, marks: run.marks.filter((m) => m !== link) });
    if (link === undefined || findLink(runs[index + 1]) === link) continue;
    const shown = runs.filter((other) => findLink(other) === link);
    const address = formatUrlSuffix(shown.map(({ text }) => text).join(''), link.url);
    if (address !== '') out.push({ text: address, marks: [] });
  }
  return out;
}

/**
 * The URL after a link's text for readers who cannot follow the link; empty if the text contains
 * it.
 */
export function formatUrlSuffix(text: string, url: string): string {
  if (url === '' || containsUrl(text, url)) return '';
  return ` (${url})`;
}

export function findLink(run: TextRun | undefined): (RunMark & { type: 'link' }) | undefined {
  return run?.marks.find((mark) => mark.type === 'link');
}

type MentionRules = DialectCapabilities['pings'];

/** Inserted after the first character of a mention: it is invisible, but no name begins with it. */
const ZERO_WIDTH_SPACE = '\u200b';
/** How far back the search for the beginning of a URL goes, in UTF-16 units. */
const MAX_ADDRESS = 200;
/** The beginning of a URL that every platform links, even without `https://`, up to a slash. */
const ADDRESS =
  /(?:^|[\s("'<[])(?:https?:\/\/)?(?:[\w-]+\.)+(?:com|org|net|io|me|tv|app|dev|social)\/(?:[\w.~%+/-]*\/)?$/i;

/**
 * Inserts a zero-width space into each text that would notify people, usually after the `@`. Marks
 * do not prevent a notification (`@**name**` notifies); code does, and so does a URL, which must
 * stay unchanged.
 */
export function neutralizeMentions(
  runs: readonly TextRun[],
  pings: MentionRules,
): readonly TextRun[] {
  if (pings === undefined) return runs;
  const places = findMentions(runs.map(({ text }) => text).join(''), pings);
  if (places.length === 0) return runs;
  const addresses = findBareUrls(runs);
  let from = 0;
  let next = 0;
  return runs.map((run) => {
    const start = from;
    from += run.text.length;
    const own: number[] = [];
    for (let at = places[next]; at !== undefined && at < from; at = places[next]) {
      own.push(at - start);
      next += 1;
    }
    const link = findLink(run);
    const isCode = run.marks.some(({ type }) => type === 'code');
    if (isCode || (link !== undefined && addresses.has(link))) return run;
    return { ...run, text: breakAutoLinks(run.text, own) };
  });
}

export function neutralizeTextMentions(text: string, pings: MentionRules): string {
  return pings === undefined ? text : breakAutoLinks(text, findMentions(text, pings));
}

function breakAutoLinks(text: string, places: readonly number[]): string {
  let dead = '';
  let from = 0;
  for (const at of places) {
    dead += text.slice(from, at + 1) + ZERO_WIDTH_SPACE;
    from = at + 1;
  }
  return dead + text.slice(from);
}

function findMentions(text: string, pings: RegExp | 'usernames'): number[] {
  const places: number[] = [];
  if (pings === 'usernames') {
    for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
      if (isUsername(text, at)) places.push(at);
    }
    return places;
  }
  for (const { index } of text.matchAll(pings)) places.push(index);
  return places;
}

function isUsername(text: string, at: number): boolean {
  if (!/^\w\w/.test(text.slice(at + 1, at + 3))) return false;
  const before = text.slice(Math.max(0, at - MAX_ADDRESS), at);
  return !/[\p{L}\p{N}_]$/u.test(before.slice(-2)) && !ADDRESS.test(before);
}

function findBareUrls(runs: readonly TextRun[]): ReadonlySet<RunMark> {
  const texts = new Map<RunMark & { type: 'link' }, string>();
  for (const run of runs) {
    const link = findLink(run);
    if (link !== undefined) texts.set(link, (texts.get(link) ?? '') + run.text);
  }
  const bare = [...texts].filter(([{ url }, text]) => containsUrl(text, url));
  return new Set(bare.map(([link]) => link));
}
