import type { BotIdentity } from './wire.ts';
import type { Entity } from './wire-basics.ts';

/** A text and what Telegram marks in it. */
export interface Marked {
  readonly text: string;
  readonly entities: readonly Entity[];
}

/**
 * A text as the agent reads it, from a place on: behind words that hide an address, a person or a moment follows what
 * they hide. Everything else is as it was written.
 */
export function spellOutHidden({ text, entities }: Marked, from = 0, me?: BotIdentity): string {
  let read = text;
  const behind = hiddenIn({ text, entities }, me).filter(({ at }) => at > from);
  for (const { at, hidden } of behind.toReversed())
    read = `${read.slice(0, at)} (${hidden})${read.slice(at)}`;
  return read.slice(from);
}

interface Hidden {
  /** Behind which UTF-16 unit the words end. */
  readonly at: number;
  readonly hidden: string;
}

/** In the order of the text; formats that cut a link into pieces leave it one. */
function hiddenIn({ text, entities }: Marked, me: BotIdentity | undefined): Hidden[] {
  const found = entities
    .flatMap((entity) => {
      const hidden = hiddenBehind(entity, me);
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
    if (isTwice || bareAddress(words) === bareAddress(hidden)) return [];
    return [{ at: placeBehind(text, start, end), hidden }];
  });
}

function hiddenBehind(
  { type, url, user, unix_time }: Entity,
  me: BotIdentity | undefined,
): string | undefined {
  switch (type) {
    case 'text_link':
      return url;
    case 'text_mention':
      return user === undefined || user.id === me?.id ? undefined : personLink(user.id);
    case 'date_time':
      return isoFromSeconds(unix_time);
    default:
      return undefined;
  }
}

/** The address of a person who has no public name. */
export function personLink(id: number): string {
  return `tg://user?id=${id}`;
}

/** The id of the person whom an address names. */
export function linkedPerson(url: string | undefined): string | undefined {
  return /^tg:\/\/user\?id=(\d{1,16})$/i.exec(url ?? '')?.[1];
}

/** Seconds since 1970 as people and models read them; undefined beyond what a date can be. */
export function isoFromSeconds(seconds: number | undefined): string | undefined {
  const date = new Date((seconds ?? Number.NaN) * 1000);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString().replace(/\.000Z$/, 'Z');
}

/** The bare form of an address. Words that are an address themselves hide nothing. */
export function bareAddress(address: string): string {
  return address
    .trim()
    .replace(/^https?:\/\//i, '')
    .replace(/\/$/, '');
}

/** Not behind spaces at the end of the words, and never inside a character. */
function placeBehind(text: string, start: number, end: number): number {
  const words = text.slice(start, end).trimEnd();
  const at = words === '' ? end : start + words.length;
  const isInside =
    /[\ud800-\udbff]/.test(text.charAt(at - 1)) && /[\udc00-\udfff]/.test(text.charAt(at));
  return isInside ? at + 1 : at;
}
