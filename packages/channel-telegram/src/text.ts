import type { BotIdentity } from './wire.ts';
import type { MessageEntity } from './wire-basics.ts';

/** A text and its entities. */
export interface MarkedText {
  readonly text: string;
  readonly entities: readonly MessageEntity[];
}

/**
 * The text as the agent reads it, starting at an offset. Text with a URL, a person or a date behind
 * it is followed by the hidden target; everything else stays as written.
 */
export function spellOutHiddenTargets(
  { text, entities }: MarkedText,
  from = 0,
  me?: BotIdentity,
): string {
  let read = text;
  const behind = listHiddenTargets({ text, entities }, me).filter(({ at }) => at > from);
  for (const { at, hidden } of behind.toReversed())
    read = `${read.slice(0, at)} (${hidden})${read.slice(at)}`;
  return read.slice(from);
}

interface HiddenTarget {
  /** The offset after the visible text, in UTF-16 units. */
  readonly at: number;
  readonly hidden: string;
}

/** Hidden targets in text order. A link that is split by formatting counts once. */
function listHiddenTargets(
  { text, entities }: MarkedText,
  me: BotIdentity | undefined,
): HiddenTarget[] {
  const found = entities
    .flatMap((entity) => {
      const hidden = findHiddenTarget(entity, me);
      const start = entity.offset;
      const end = Math.min(entity.offset + entity.length, text.length);
      return hidden === undefined || start < 0 || end <= start ? [] : [{ start, end, hidden }];
    })
    .toSorted((a, b) => a.end - b.end || b.start - a.start);
  const whole = found.filter(
    ({ end, hidden }) =>
      !found.some((next) => next.hidden === hidden && next.start <= end && next.end > end),
  );
  return whole.flatMap(({ start, end, hidden }, index) => {
    const isTwice = whole.slice(0, index).some((one) => one.hidden === hidden && one.end === end);
    const words = text.slice(start, end);
    if (isTwice || shortenUrl(words) === shortenUrl(hidden)) return [];
    return [{ at: findInsertOffset(text, start, end), hidden }];
  });
}

function findHiddenTarget(
  { type, url, user, unix_time }: MessageEntity,
  me: BotIdentity | undefined,
): string | undefined {
  switch (type) {
    case 'text_link':
      return url;
    case 'text_mention':
      return user === undefined || user.id === me?.id ? undefined : buildPersonLink(user.id);
    case 'date_time':
      return formatIsoTime(unix_time);
    default:
      return undefined;
  }
}

/** The URL of a person who has no username. */
export function buildPersonLink(id: number): string {
  return `tg://user?id=${id}`;
}

export function parsePersonLink(url: string | undefined): string | undefined {
  return /^tg:\/\/user\?id=(\d{1,16})$/i.exec(url ?? '')?.[1];
}

/** Formats seconds since 1970 for people and models; undefined when out of range for a date. */
export function formatIsoTime(seconds: number | undefined): string | undefined {
  const date = new Date((seconds ?? Number.NaN) * 1000);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString().replace(/\.000Z$/, 'Z');
}

/** A URL in a short form for comparison. A link whose text is the URL itself hides nothing. */
export function shortenUrl(address: string): string {
  return address
    .trim()
    .replace(/^https?:\/\//i, '')
    .replace(/\/$/, '');
}

/** The offset for the insertion, before trailing whitespace and never inside a character. */
function findInsertOffset(text: string, start: number, end: number): number {
  const words = text.slice(start, end).trimEnd();
  const at = words === '' ? end : start + words.length;
  const isInside =
    /[\ud800-\udbff]/.test(text.charAt(at - 1)) && /[\udc00-\udfff]/.test(text.charAt(at));
  return isInside ? at + 1 : at;
}
