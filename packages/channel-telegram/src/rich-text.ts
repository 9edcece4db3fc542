import { z } from 'zod';
import { renderLocation } from './cards.ts';
import { toLenientList } from './lenient.ts';
import { buildPersonLink, formatIsoTime } from './text.ts';
import { MessageMedia } from './wire-basics.ts';
import { GeoPoint } from './wire-cards.ts';

/** A formatted message converted to Markdown, and the files it contains. */
export interface RichText {
  readonly text: string;
  readonly media: readonly MessageMedia[];
  /** Whether part of the message is marked as another person's text. */
  readonly quotes: boolean;
}

/** Telegram allows 16 levels and 32,768 characters; anything deeper or longer is truncated. */
const MAX_DEPTH = 32;
const MAX_CHARACTERS = 40_000;
const CUT = '[…]';

const Blocks = z.object({ blocks: toLenientList(z.looseObject({ type: z.string() })) });
type RichBlock = z.infer<typeof Blocks>['blocks'][number];
const Items = toLenientList(z.looseObject({ label: z.string().catch('-') }));
const Rows = toLenientList(toLenientList(z.looseObject({})));

/** Reads a rich message. An unknown kind of block contributes only its text. */
export function parseRichText(rich: unknown): RichText {
  const { blocks } = Blocks.catch({ blocks: [] }).parse(rich);
  const seen: RichTextState = { media: [], quotes: false };
  const text = renderBlocks(blocks, seen, 0);
  const isLong = text.length > MAX_CHARACTERS;
  return { ...seen, text: isLong ? `${text.slice(0, MAX_CHARACTERS).toWellFormed()}${CUT}` : text };
}

/**
 * A person mentioned in a formatted message: by id, or by a username, which can be transferred to
 * somebody else.
 */
interface MentionedPerson {
  readonly id?: number | undefined;
  readonly name?: string | undefined;
}

/** A limit above the deepest nesting of blocks, items and formats that Telegram allows. */
const MAX_NESTING = 200;

/**
 * Everyone mentioned anywhere in a rich message. A command with the name of a bot mentions that
 * bot.
 */
export function listRichTextMentions(rich: unknown, depth = 0): MentionedPerson[] {
  if (depth >= MAX_NESTING || typeof rich !== 'object' || rich === null) return [];
  const { type, user, username, bot_command: command } = toRecord(rich);
  const inside = Object.values(rich).flatMap((part) => listRichTextMentions(part, depth + 1));
  switch (type) {
    case 'text_mention': {
      const { id } = toRecord(user);
      return typeof id === 'number' ? [{ id }, ...inside] : inside;
    }
    case 'mention':
      return [{ name: readWord(username) }, ...inside];
    case 'bot_command':
      return [{ name: readWord(command).split('@')[1] }, ...inside];
    default:
      return inside;
  }
}

interface RichTextState {
  media: MessageMedia[];
  quotes: boolean;
}

function renderBlocks(blocks: readonly RichBlock[], seen: RichTextState, depth: number): string {
  const texts = blocks.map((block) => renderBlock(block, seen, depth));
  return texts.filter((text) => text !== '').join('\n\n');
}

function renderInnerBlocks(
  block: Record<string, unknown>,
  seen: RichTextState,
  depth: number,
): string {
  if (depth >= MAX_DEPTH) return CUT;
  return renderBlocks(Blocks.catch({ blocks: [] }).parse(block).blocks, seen, depth + 1);
}

function renderBlock(block: RichBlock, seen: RichTextState, depth: number): string {
  const text = renderInline(block.text);
  switch (block.type) {
    case 'heading':
      return `${'#'.repeat(Math.min(6, Math.max(1, Number(block.size) || 1)))} ${text}`;
    case 'pre':
      return [
        `\`\`\`${typeof block.language === 'string' ? block.language : ''}`,
        text,
        '```',
      ].join('\n');
    case 'divider':
      return '---';
    case 'mathematical_expression':
      return readWord(block.expression);
    case 'anchor':
      return '';
    case 'list':
      return Items.parse(block.items)
        .map((item) => renderListItem(item, seen, depth))
        .join('\n');
    case 'blockquote':
    case 'expandable_blockquote':
    case 'pullquote':
      seen.quotes = true;
      return quoteLines(
        joinLines(text, renderInnerBlocks(block, seen, depth), renderCredit(block)),
      );
    case 'table':
      return joinLines(renderTable(block.cells), renderInline(block.caption));
    case 'details':
      return joinLines(renderInline(block.summary), renderInnerBlocks(block, seen, depth));
    case 'map':
      return joinLines(renderMap(block.location), renderCaption(block.caption));
    case 'buttons':
      return renderButtons(block.buttons);
    default: {
      const files = renderFiles(block, seen);
      const words = joinLines(
        text,
        renderInnerBlocks(block, seen, depth),
        files,
        renderCaption(block.caption),
      );
      return words === '' && !WORDLESS.has(block.type)
        ? '[something that cannot be read here]'
        : words;
    }
  }
}

/** Block kinds that may be empty. */
const WORDLESS: ReadonlySet<string> = new Set(['paragraph', 'footer', 'thinking']);

function renderListItem(item: Record<string, unknown>, seen: RichTextState, depth: number): string {
  const box = item.has_checkbox === true ? `[${item.is_checked === true ? 'x' : ' '}] ` : '';
  const text = renderInnerBlocks(item, seen, depth).replaceAll('\n', '\n  ');
  return `${readWord(item.label)} ${box}${text}`;
}

function quoteLines(text: string): string {
  return text
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');
}

function renderCredit(block: RichBlock): string {
  const text = renderInline(block.credit);
  return text === '' ? '' : `— ${text}`;
}

function renderTable(cells: unknown): string {
  const rows = Rows.parse(cells).map(
    (row) => `| ${row.map(({ text }) => renderInline(text)).join(' | ')} |`,
  );
  return rows.join('\n');
}

function renderMap(location: unknown): string {
  const point = GeoPoint.safeParse(location);
  return point.success ? renderLocation(point.data) : '';
}

function renderCaption(caption: unknown): string {
  const { text, credit: by } = toRecord(caption);
  return joinLines(
    renderInline(text ?? (typeof caption === 'string' ? caption : '')),
    by === undefined ? '' : `— ${renderInline(by)}`,
  );
}

const FILES: Readonly<Record<string, string>> = {
  photo: 'picture',
  video: 'video',
  animation: 'animation',
  audio: 'recording',
  document: 'file',
  voice_note: 'voice message',
};

function renderFiles(block: RichBlock, seen: RichTextState): string {
  const label = FILES[block.type];
  if (label === undefined) return '';
  const media = MessageMedia.safeParse({ ...block, voice: block.voice_note });
  if (media.success) seen.media.push(media.data);
  return `[${label}]`;
}

function renderButtons(buttons: unknown): string {
  const labels = toLenientList(z.looseObject({})).parse(buttons).map(renderButton);
  return labels.length === 0 ? '' : `[Buttons: ${labels.join(' / ')}]`;
}

function renderButton(button: Record<string, unknown>): string {
  const { url } = button;
  const label = renderInline(button.text);
  return typeof url === 'string' ? `${label} (${url})` : label;
}

/**
 * Renders text with nested formats. URLs, people and dates behind the text are written out after
 * it.
 */
function renderInline(rich: unknown, depth = 0): string {
  if (typeof rich === 'string') return rich;
  if (depth >= MAX_DEPTH) return CUT;
  if (Array.isArray(rich)) return rich.map((part) => renderInline(part, depth + 1)).join('');
  const part = toRecord(rich);
  if (part.type === 'button') return `[${renderButton(toRecord(part.button))}]`;
  if (part.type === 'custom_emoji') return readWord(part.alternative_text);
  if (part.type === 'mathematical_expression') return readWord(part.expression);
  const words = renderInline(part.text ?? '', depth + 1);
  const hidden = describeHiddenTarget(part);
  return hidden === undefined || hidden === words ? words : `${words} (${hidden})`;
}

function describeHiddenTarget(part: Record<string, unknown>): string | undefined {
  switch (part.type) {
    case 'url':
      return readWord(part.url) || undefined;
    case 'text_mention': {
      const { id } = toRecord(part.user);
      return typeof id === 'number' ? buildPersonLink(id) : undefined;
    }
    case 'date_time':
      return formatIsoTime(typeof part.unix_time === 'number' ? part.unix_time : undefined);
    case 'email_address':
      return readWord(part.email_address) || undefined;
    case 'phone_number':
      return readWord(part.phone_number) || undefined;
    default:
      return undefined;
  }
}

function joinLines(...texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n');
}

function readWord(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function toRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : {};
}
