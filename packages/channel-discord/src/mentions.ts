import type { ChatDetails } from './places.ts';
import type { WireUser } from './wire.ts';
import type { WireContent, WireMention } from './wire-message.ts';

/** Rewrites text the way it is displayed, with names instead of ids. */
export type NameReplacer = (text: string) => string;

/**
 * The displayed name: the server nickname or, if there is none, the display name or the account
 * name.
 */
export function getDisplayName(user: WireUser, nick: string | null | undefined): string {
  return nick || user.global_name || user.username;
}

/**
 * Names by id, from the message and from what is known about its channel. `around` lists people
 * from the surrounding messages, because Discord does not list the people mentioned in embeds and
 * cards.
 */
export function createNameReplacer(
  { mentions, mention_channels, resolved }: WireContent,
  { nameOf }: Pick<ChatDetails, 'nameOf'>,
  around: readonly WireMention[] = [],
): NameReplacer {
  const users = listMentionedNames([...around, ...mentions]);
  for (const user of Object.values(resolved?.users ?? {}))
    users.set(user.id, getDisplayName(user, undefined));
  const published = new Map(mention_channels.map(({ id, name }) => [id, name]));
  const known = (kind: 'role' | 'channel', id: string): string | undefined => {
    const own = nameOf(kind, id);
    if (own !== undefined) return own;
    const brought = kind === 'role' ? resolved?.roles : resolved?.channels;
    return published.get(id) ?? brought?.[id]?.name;
  };
  return (text) => replaceMentions(text, users, known);
}

export function listMentionedNames(mentions: readonly WireMention[]): Map<string, string> {
  return new Map(mentions.map((user) => [user.id, getDisplayName(user, user.member?.nick)]));
}

/** Names of server pages, keyed by the word in `<id:…>`. */
const PAGES: ReadonlyMap<string, string> = new Map([
  ['customize', 'Channels & Roles'],
  ['browse', 'Browse Channels'],
  ['guide', 'Server Guide'],
  ['home', 'Server Guide'],
  ['linked-roles', 'Linked Roles'],
]);

const MARKS = {
  mention: /<(@[!&]?|#)(\d{1,20})>/g,
  emoji: /<a?:(\w+):\d{1,20}>/g,
  command: /<\/([^:<>\n]+):\d{1,20}>/g,
  time: /<t:(-?\d{1,13})(?::[tTdDfFsSR])?>/g,
  page: /<id:([a-z-]{1,20})(?::\d{1,20})?>/g,
  sound: /<sound:\d{1,20}:\d{1,20}>/g,
} as const;

/**
 * Replaces markers with what people see: `<@7>` becomes `@Ann`, `<#8>` `#general`, `<:wave:9>`
 * `:wave:`, `<t:0>` `1970-01-01 00:00 UTC`, `<id:browse>` `Browse Channels`. `users` are the people
 * whom the message mentions; `nameOf` returns the names of roles and channels. Markers without a
 * known name stay unchanged.
 */
export function replaceMentions(
  text: string,
  users: ReadonlyMap<string, string>,
  nameOf: (kind: 'role' | 'channel', id: string) => string | undefined,
): string {
  if (!text.includes('<')) return text;
  return text
    .replace(MARKS.mention, (mark, kind: string, id: string) => {
      const name =
        kind === '#' ? nameOf('channel', id) : kind === '@&' ? nameOf('role', id) : users.get(id);
      return name === undefined ? mark : `${kind === '#' ? '#' : '@'}${name}`;
    })
    .replace(MARKS.emoji, ':$1:')
    .replace(MARKS.command, '/$1')
    .replace(
      MARKS.time,
      (mark, seconds: string) => formatDiscordTime(Number(seconds) * 1_000) ?? mark,
    )
    .replace(MARKS.page, (mark, page: string) => PAGES.get(page) ?? mark)
    .replace(MARKS.sound, '[sound of the soundboard]');
}

/**
 * Removes the remaining markers for people, channels, emojis and commands, whose names are unknown.
 */
export function removeMarkers(text: string): string {
  return text
    .replace(MARKS.mention, '')
    .replace(MARKS.emoji, '')
    .replace(MARKS.command, '')
    .replace(MARKS.sound, '');
}

/**
 * Formats a time such as `2026-11-01 10:00 UTC`; Discord shows it in each person's time zone.
 * Undefined for an invalid time.
 */
export function formatDiscordTime(at: number): string | undefined {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return undefined;
  const [, day, minutes] = /^([+-]?\d+-\d\d-\d\d)T(\d\d:\d\d)/.exec(date.toISOString()) ?? [];
  return `${day} ${minutes} UTC`;
}
