import { z } from 'zod';
import { formatMaskedLink } from './embeds.ts';
import type { NameReplacer } from './mentions.ts';
import { kindNumber, Snowflake, text, toLenientField, toLenientList } from './wire.ts';
import { WireMedia } from './wire-message.ts';

const Option = z.object({
  label: text,
  value: text,
  description: text,
  default: toLenientField(z.boolean()),
});
const Media = z.object({
  media: WireMedia,
  description: text,
  spoiler: toLenientField(z.boolean()),
});
const Nested = z.array(z.unknown()).catch([]);

/** The fields of all component types; each type has only some of them. */
const WireComponent = z.object({
  type: kindNumber,
  content: text,
  label: text,
  placeholder: text,
  description: text,
  value: text,
  name: text,
  url: toLenientField(z.string()),
  emoji: toLenientField(
    z.object({ id: toLenientField(Snowflake), name: toLenientField(z.string()) }),
  ),
  options: toLenientList(Option),
  default_values: toLenientList(z.object({ id: Snowflake, type: text })),
  components: Nested,
  component: toLenientField(z.unknown()),
  accessory: toLenientField(z.unknown()),
  items: toLenientList(Media),
  media: toLenientField(WireMedia),
  file: toLenientField(WireMedia),
  spoiler: toLenientField(z.boolean()),
  divider: toLenientField(z.boolean()),
});
type WireComponent = z.infer<typeof WireComponent>;

/** A file shown by a component. */
export interface DisplayedMedia extends WireMedia {
  readonly isSpoiler: boolean;
  readonly name?: string;
}

/** What components contain: their visible text, their files, and the names of unreadable kinds. */
export interface ComponentContent {
  readonly lines: readonly string[];
  readonly media: readonly DisplayedMedia[];
  readonly unread: readonly string[];
}

const NOTHING: ComponentContent = { lines: [], media: [], unread: [] };
/**
 * Components nested more deeply than this are not read. Discord allows three levels and 40
 * components in a message.
 */
const MAX_DEPTH = 8;
const MAX_COMPONENTS = 100;

/** Reads a message's components; nested components are inserted where they occur. */
export function parseComponents(
  components: readonly unknown[],
  naming: NameReplacer,
  depth = 0,
): ComponentContent {
  if (depth > MAX_DEPTH || components.length === 0) return NOTHING;
  return joinComponents(
    components.slice(0, MAX_COMPONENTS).map((one) => {
      const read = WireComponent.safeParse(one);
      if (!read.success) return { ...NOTHING, unread: ['a part of the message'] };
      return parseComponent(read.data, naming, depth);
    }),
  );
}

/**
 * The URL from which a file can be downloaded: the original on Discord's servers, or Discord's
 * copy; undefined for any other URL.
 */
export function getMediaUrl({ url, proxy_url, attachment_id }: WireMedia): string | undefined {
  const address = attachment_id === undefined ? proxy_url : url;
  return address !== undefined && /^https?:/.test(address) ? address : undefined;
}

/** A line for a file that cannot be downloaded, with the URL that people may open. */
function formatMediaLine({ url, description, name }: DisplayedMedia): string {
  return `[File] ${[name, description, url].filter(Boolean).join(' ')}`;
}

function joinComponents(all: readonly ComponentContent[]): ComponentContent {
  return {
    lines: all.flatMap(({ lines }) => lines),
    media: all.flatMap(({ media }) => media),
    unread: all.flatMap(({ unread }) => unread),
  };
}

function parseComponent(
  component: WireComponent,
  naming: NameReplacer,
  depth: number,
): ComponentContent {
  const { type } = component;
  const below = parseComponents(listNestedComponents(component), naming, depth + 1);
  const media = listMedia(component);
  const elsewhere = media.filter((one) => getMediaUrl(one) === undefined).map(formatMediaLine);
  const shown: ComponentContent = {
    lines: [...listComponentLines(component, naming), ...elsewhere, ...below.lines],
    media: [...media, ...below.media],
    unread: below.unread,
  };
  const isEmpty = [shown.lines, shown.media, shown.unread].every((list) => list.length === 0);
  const name = isEmpty && !SILENT.has(type) ? getKindName(type) : undefined;
  return name === undefined ? shown : { ...shown, unread: [name] };
}

function listNestedComponents({ components, component, accessory }: WireComponent): unknown[] {
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
 * other components.
 */
const SILENT: ReadonlySet<number> = new Set([ROW, 9, SEPARATOR, CONTAINER, 18]);

function getKindName(type: number): string {
  if (type === BUTTON) return 'a button without words';
  if (type === ENTRY) return 'an entry about what a person plays or hears';
  return `a part of the message (component type ${type})`;
}

/** A component's lines, without those of nested components. */
function listComponentLines(component: WireComponent, naming: NameReplacer): string[] {
  const { type, label, url, emoji, divider, content, description, value } = component;
  if (type === SEPARATOR) return divider === false ? [] : ['---'];
  if (type === BUTTON) {
    const words = [formatEmoji(emoji), label].filter(Boolean).join(' ');
    return words === '' && url === undefined ? [] : [`[Button] ${formatMaskedLink(words, url)}`];
  }
  if (MENUS.has(type)) return [formatMenuLine(component, naming)];
  const spoiler = component.spoiler === true && type === CONTAINER ? ['[Spoiler]'] : [];
  const options = component.options.map((option) => `- ${formatOption(option)}`);
  const lines = [content, label, component.placeholder, description, value].filter(Boolean);
  return [...spoiler, ...lines.map(naming), ...options.map(naming)];
}

function formatMenuLine(
  { placeholder, options, default_values }: WireComponent,
  naming: NameReplacer,
): string {
  const chosen = default_values.map(({ id, type }) => naming(formatMention(id, type)));
  const all = [...options.map(formatOption), ...chosen];
  return ['[Menu]', naming(placeholder), all.length === 0 ? '' : `(${all.join(', ')})`]
    .filter(Boolean)
    .join(' ');
}

function formatMention(id: string, type: string): string {
  if (type === 'channel') return `<#${id}>`;
  return type === 'role' ? `<@&${id}>` : `<@${id}>`;
}

function formatOption({ label, value, description }: z.infer<typeof Option>): string {
  const words = label || value;
  return description === '' ? words : `${words}: ${description}`;
}

/** A standard emoji as it is, or the name of a server's custom emoji between colons. */
export function formatEmoji(
  emoji: { id?: string | undefined; name?: string | undefined } | undefined,
) {
  if (emoji === undefined) return '';
  return emoji.id === undefined ? (emoji.name ?? '') : `:${emoji.name ?? 'emoji'}:`;
}

function listMedia({ items: gallery, media, file, spoiler, name, description }: WireComponent) {
  const single = [media, file].filter((one) => one !== undefined);
  const of = (one: WireMedia, words: string, isSpoiler: boolean, called = ''): DisplayedMedia => ({
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
