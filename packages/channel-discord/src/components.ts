import { z } from 'zod';
import { maskedLink } from './embeds.ts';
import type { Naming } from './mentions.ts';
import { field, kindNumber, Snowflake, text, validItems } from './wire.ts';
import { WireMedia } from './wire-message.ts';

const Option = z.object({
  label: text,
  value: text,
  description: text,
  default: field(z.boolean()),
});
const Media = z.object({
  media: WireMedia,
  description: text,
  spoiler: field(z.boolean()),
});
const Nested = z.array(z.unknown()).catch([]);

/** The fields of all component types; each type has some of them. */
const WireComponent = z.object({
  type: kindNumber,
  content: text,
  label: text,
  placeholder: text,
  description: text,
  value: text,
  name: text,
  url: field(z.string()),
  emoji: field(z.object({ id: field(Snowflake), name: field(z.string()) })),
  options: validItems(Option),
  default_values: validItems(z.object({ id: Snowflake, type: text })),
  components: Nested,
  component: field(z.unknown()),
  accessory: field(z.unknown()),
  items: validItems(Media),
  media: field(WireMedia),
  file: field(WireMedia),
  spoiler: field(z.boolean()),
  divider: field(z.boolean()),
});
type WireComponent = z.infer<typeof WireComponent>;

/** A file shown by a component. */
export interface ShownMedia extends WireMedia {
  readonly isSpoiler: boolean;
  readonly name?: string;
}

/**
 * The content of components: their visible text, their files, and the names of unreadable kinds.
 */
export interface ShownComponents {
  readonly lines: readonly string[];
  readonly media: readonly ShownMedia[];
  readonly unread: readonly string[];
}

const NOTHING: ShownComponents = { lines: [], media: [], unread: [] };
/**
 * The maximum nesting depth that is read; Discord allows three levels and 40 components in a
 * message.
 */
const MAX_DEPTH = 8;
const MAX_COMPONENTS = 100;

/** Reads the components of a message; nested ones are inserted where they occur. */
export function readComponents(
  components: readonly unknown[],
  naming: Naming,
  depth = 0,
): ShownComponents {
  if (depth > MAX_DEPTH || components.length === 0) return NOTHING;
  return joinComponents(
    components.slice(0, MAX_COMPONENTS).map((one) => {
      const read = WireComponent.safeParse(one);
      if (!read.success) return { ...NOTHING, unread: ['a part of the message'] };
      return readComponent(read.data, naming, depth);
    }),
  );
}

/**
 * The URL from which a file can be downloaded: the original on Discord's servers, or Discord's
 * copy; undefined for any other.
 */
export function mediaUrl({ url, proxy_url, attachment_id }: WireMedia): string | undefined {
  const address = attachment_id === undefined ? proxy_url : url;
  return address !== undefined && /^https?:/.test(address) ? address : undefined;
}

/** A line for a file that cannot be downloaded, with the URL that people may open. */
function mediaLine({ url, description, name }: ShownMedia): string {
  return `[File] ${[name, description, url].filter(Boolean).join(' ')}`;
}

function joinComponents(all: readonly ShownComponents[]): ShownComponents {
  return {
    lines: all.flatMap(({ lines }) => lines),
    media: all.flatMap(({ media }) => media),
    unread: all.flatMap(({ unread }) => unread),
  };
}

function readComponent(component: WireComponent, naming: Naming, depth: number): ShownComponents {
  const { type } = component;
  const below = readComponents(nestedIn(component), naming, depth + 1);
  const media = mediaIn(component);
  const elsewhere = media.filter((one) => mediaUrl(one) === undefined).map(mediaLine);
  const shown: ShownComponents = {
    lines: [...ownLines(component, naming), ...elsewhere, ...below.lines],
    media: [...media, ...below.media],
    unread: below.unread,
  };
  const isEmpty = [shown.lines, shown.media, shown.unread].every((list) => list.length === 0);
  const name = isEmpty && !SILENT.has(type) ? nameOfKind(type) : undefined;
  return name === undefined ? shown : { ...shown, unread: [name] };
}

function nestedIn({ components, component, accessory }: WireComponent): unknown[] {
  return [...components, component, accessory].filter((one) => one !== undefined);
}

const ROW = 1;
const BUTTON = 2;
const MENUS: ReadonlySet<number> = new Set([3, 5, 6, 7, 8]);
const SEPARATOR = 14;
const ENTRY = 16;
const CONTAINER = 17;
/**
 * Component types that may be empty: rows, sections, separators, containers and labels only arrange
 * their content.
 */
const SILENT: ReadonlySet<number> = new Set([ROW, 9, SEPARATOR, CONTAINER, 18]);

function nameOfKind(type: number): string {
  if (type === BUTTON) return 'a button without words';
  if (type === ENTRY) return 'an entry about what a person plays or hears';
  return `a part of the message (component type ${type})`;
}

/** The lines of a component, without those of nested ones. */
function ownLines(component: WireComponent, naming: Naming): string[] {
  const { type, label, url, emoji, divider, content, description, value } = component;
  if (type === SEPARATOR) return divider === false ? [] : ['---'];
  if (type === BUTTON) {
    const words = [emojiText(emoji), label].filter(Boolean).join(' ');
    return words === '' && url === undefined ? [] : [`[Button] ${maskedLink(words, url)}`];
  }
  if (MENUS.has(type)) return [menuLine(component, naming)];
  const spoiler = component.spoiler === true && type === CONTAINER ? ['[Spoiler]'] : [];
  const options = component.options.map((option) => `- ${optionText(option)}`);
  const lines = [content, label, component.placeholder, description, value].filter(Boolean);
  return [...spoiler, ...lines.map(naming), ...options.map(naming)];
}

function menuLine({ placeholder, options, default_values }: WireComponent, naming: Naming): string {
  const chosen = default_values.map(({ id, type }) => naming(mentionMarkup(id, type)));
  const all = [...options.map(optionText), ...chosen];
  return ['[Menu]', naming(placeholder), all.length === 0 ? '' : `(${all.join(', ')})`]
    .filter(Boolean)
    .join(' ');
}

function mentionMarkup(id: string, type: string): string {
  if (type === 'channel') return `<#${id}>`;
  return type === 'role' ? `<@&${id}>` : `<@${id}>`;
}

function optionText({ label, value, description }: z.infer<typeof Option>): string {
  const words = label || value;
  return description === '' ? words : `${words}: ${description}`;
}

/** A standard emoji as is, or the name of a server's custom emoji between colons. */
export function emojiText(
  emoji: { id?: string | undefined; name?: string | undefined } | undefined,
) {
  if (emoji === undefined) return '';
  return emoji.id === undefined ? (emoji.name ?? '') : `:${emoji.name ?? 'emoji'}:`;
}

function mediaIn({ items: gallery, media, file, spoiler, name, description }: WireComponent) {
  const single = [media, file].filter((one) => one !== undefined);
  const of = (one: WireMedia, words: string, isSpoiler: boolean, called = ''): ShownMedia => ({
    ...one,
    ...(words !== '' && { description: words }),
    isSpoiler,
    ...(called !== '' && { name: called }),
  });
  return [
    ...gallery.map((item) => of(item.media, item.description, item.spoiler === true)),
    ...single.map((one) => of(one, description, spoiler === true, name)),
  ];
}
