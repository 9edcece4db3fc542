import { formatDiscordTime, type NameReplacer } from './mentions.ts';
import type { WireEmbed, WireMedia } from './wire-message.ts';

/**
 * The maximum length of a link preview, in characters; it is short because the linked page has the
 * full text.
 */
const MAX_PREVIEW = 500;
/** The maximum length of a post preview, in characters; Discord itself shows posts in full. */
const MAX_POST = 1_500;
/** Discord's limit for all embeds in one message, in characters. */
const MAX_EMBED = 6_000;

/** The text above the embed, the links in that text, and how mentions are rendered. */
export interface EmbedContext {
  readonly naming: NameReplacer;
  readonly content: string;
}

/**
 * Embed types that Discord creates from a link. Embeds from bots and webhooks, and embeds for some
 * posts, have the type `rich`.
 */
const PREVIEWS: ReadonlySet<string> = new Set(['link', 'article', 'video', 'image', 'gifv']);

function isPreview({ type }: WireEmbed): boolean {
  return type !== undefined && PREVIEWS.has(type);
}

/** Formats an embed as text; empty if it shows nothing that can be expressed as text. */
export function renderEmbed(embed: WireEmbed, context: EmbedContext): string {
  if (embed.type === 'poll_result') return renderPollResult(embed);
  if (isPreview(embed)) return renderPreview(embed, context);
  const { url } = embed;
  const isPost = url !== undefined && context.content.includes(url);
  return truncateText(renderRichEmbed(embed, context.naming), isPost ? MAX_POST : MAX_EMBED);
}

/**
 * The name of an embed without readable content, for example of a new kind; undefined if the embed
 * is readable.
 */
export function describeUnreadEmbed(embed: WireEmbed, context: EmbedContext): string | undefined {
  if (isPreview(embed) || renderEmbed(embed, context) !== '') return undefined;
  return embed.type === undefined || embed.type === 'rich'
    ? 'an embed'
    : `an embed (${embed.type})`;
}

/** A preview such as `[Preview of https://…] Site · Title: first words`, on one line. */
function renderPreview(
  { url, title, description, provider, author }: WireEmbed,
  { naming, content }: EmbedContext,
): string {
  const from = [provider?.name, author?.name].filter(Boolean).join(', ');
  const about = [title, description].filter(Boolean).join(': ');
  const words = [from, about].filter(Boolean).join(' · ').replace(/\s+/g, ' ').trim();
  const isKnown = url === undefined || content.includes(url);
  // A preview without text is still shown when its link is not in the text.
  if (words === '' && isKnown) return '';
  return `[Preview${url === undefined ? '' : ` of ${url}`}] ${truncateText(naming(words), MAX_PREVIEW)}`.trim();
}

/** A card from a bot or webhook, in the order in which people see it. */
function renderRichEmbed(embed: WireEmbed, naming: NameReplacer): string {
  const { author, title, url, description, fields, provider, footer, timestamp } = embed;
  const time = timestamp === undefined ? undefined : formatDiscordTime(Date.parse(timestamp));
  const lines = [
    provider?.name,
    author && formatMaskedLink(author.name, author.url),
    formatMaskedLink(naming(title), url),
    naming(description),
    ...fields.map(({ name, value }) => `${naming(name)}: ${naming(value)}`),
    formatPictureLine('Picture', embed.image),
    formatPictureLine('Small picture', embed.thumbnail),
    formatPictureLine('Video', embed.video),
    [footer?.text, time].filter(Boolean).join(' · '),
  ].filter((line) => line !== undefined && line.trim() !== '');
  return lines.length === 0 ? '' : ['[Embed]', ...lines].join('\n');
}

/** A link in the form `[Build 77](https://…)`. */
export function formatMaskedLink(words: string, url: string | undefined): string {
  if (url === undefined || url === '' || words === url) return words || (url ?? '');
  return words.trim() === '' ? url : `[${words}](${url})`;
}

function formatPictureLine(what: string, media: WireMedia | undefined): string | undefined {
  if (media === undefined) return undefined;
  const { url, description } = media;
  return `${what}: ${[description, url].filter(Boolean).join(' ')}`;
}

/** The result of a poll, which Discord puts into the fields of an embed. */
function renderPollResult({ fields }: WireEmbed): string {
  const value = (name: string) => fields.find((one) => one.name === name)?.value ?? '';
  const question = value('poll_question_text');
  const winner = [value('victor_answer_emoji_name'), value('victor_answer_text')]
    .filter(Boolean)
    .join(' ');
  const total = value('total_votes');
  const votes = value('victor_answer_votes');
  const result =
    winner === ''
      ? `No answer won${total === '' ? '' : `; votes in all: ${total}`}`
      : `Winner: ${winner}${votes === '' ? '' : ` (${votes} of ${total} votes)`}`;
  return `Poll closed: ${question}\n${result}`;
}

/** Truncates text to a length, and adds a notice with the original length (P10). */
export function truncateText(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length).toWellFormed()}… [cut: ${length} of ${text.length} characters]`;
}
