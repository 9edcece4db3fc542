import type { DialectCapabilities } from '../capabilities.ts';
import type { Mark, Run } from '../document.ts';
import { linkOf, showsAddress } from './links.ts';

type Pings = DialectCapabilities['pings'];

/** Follows the `@` of a dead mention: nothing to see, but no name begins with it. */
const ZERO_WIDTH_SPACE = '\u200b';
/** How far back the beginning of an address is looked for, in UTF-16 units. */
const MAX_ADDRESS = 200;
/** The beginning of an address that every platform links, even without `https://`, up to a slash. */
const ADDRESS =
  /(?:^|[\s("'<[])(?:https?:\/\/)?(?:[\w-]+\.)+(?:com|org|net|io|me|tv|app|dev|social)\/(?:[\w.~%+/-]*\/)?$/i;

/**
 * The same runs with a zero-width space after each `@` that would ping somebody. Marks do not protect
 * (`@**name**` pings); code does, and so does being part of an address, which must stay whole.
 */
export function deadenMentions(runs: readonly Run[], pings: Pings): readonly Run[] {
  if (pings.length === 0 || !runs.some(({ text }) => text.includes('@'))) return runs;
  const places = placesOfPings(runs.map(({ text }) => text).join(''), pings);
  const addresses = bareAddresses(runs);
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
    const link = linkOf(run);
    const isCode = run.marks.some(({ type }) => type === 'code');
    if (isCode || (link !== undefined && addresses.has(link))) return run;
    return { ...run, text: cutOff(run.text, own) };
  });
}

/** The same for a text without any formats. */
export function deadenPlain(text: string, pings: Pings): string {
  return pings.length === 0 ? text : cutOff(text, placesOfPings(text, pings));
}

function cutOff(text: string, places: readonly number[]): string {
  let dead = '';
  let from = 0;
  for (const at of places) {
    dead += text.slice(from, at + 1) + ZERO_WIDTH_SPACE;
    from = at + 1;
  }
  return dead + text.slice(from);
}

function placesOfPings(text: string, pings: Pings): number[] {
  const places: number[] = [];
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    if (isPing(text, at, pings)) places.push(at);
  }
  return places;
}

function isPing(text: string, at: number, pings: Pings): boolean {
  if (pings !== 'usernames') return pings.some((name) => text.startsWith(name, at + 1));
  if (!/^\w\w/.test(text.slice(at + 1, at + 3))) return false;
  const before = text.slice(Math.max(0, at - MAX_ADDRESS), at);
  return !/[\p{L}\p{N}_]$/u.test(before.slice(-2)) && !ADDRESS.test(before);
}

/** Links whose text is their address. */
function bareAddresses(runs: readonly Run[]): ReadonlySet<Mark> {
  const texts = new Map<Mark & { type: 'link' }, string>();
  for (const run of runs) {
    const link = linkOf(run);
    if (link !== undefined) texts.set(link, (texts.get(link) ?? '') + run.text);
  }
  const bare = [...texts].filter(([{ url }, text]) => showsAddress(text, url));
  return new Set(bare.map(([link]) => link));
}
