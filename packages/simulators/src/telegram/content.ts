import { type HtmlEntity, parseTelegramHtml, TelegramHtmlError } from './parse-html.ts';
import { createBadRequestRefusal, isRecord, type RequestParams } from './request.ts';
import type { WireMessage } from './wire.ts';

/** Text without markup, with its formatting as entities. */
export interface FormattedText {
  readonly text: string;
  readonly entities: readonly HtmlEntity[];
}

/**
 * The maximum length of text after parsing, in code points (measured on the live service; some
 * sources say UTF-16 units).
 */
const MAX_TEXT = 4096;
const MAX_CAPTION = 1024;
const MAX_ENTITIES = 100;

/**
 * Parses `text` with `parse_mode` or `entities`, as sendMessage does.
 * @throws Refusal with status 400 when the text is empty or too long, or its markup is invalid
 */
export function parseTextParams(params: RequestParams): FormattedText {
  const raw = params.text('text') ?? '';
  if (raw === '') throw createBadRequestRefusal('message text is empty');
  const shown = normalizeText(parseText(raw, params, 'entities'));
  if (shown.text === '') throw createBadRequestRefusal('message text is empty');
  if ([...shown.text].length > MAX_TEXT) throw createBadRequestRefusal('message is too long');
  return { text: shown.text, entities: shown.entities.slice(0, MAX_ENTITIES) };
}

/**
 * Parses `caption`, which may be empty, as sendPhoto and similar methods do.
 * @throws Refusal with status 400 when the caption is too long or its markup is invalid
 */
export function parseCaptionParams(params: RequestParams): Partial<WireMessage> {
  const raw = params.text('caption') ?? '';
  if (raw === '') return {};
  const { text, entities } = normalizeText(parseText(raw, params, 'caption_entities'));
  if ([...text].length > MAX_CAPTION) throw createBadRequestRefusal('message caption is too long');
  if (text === '') return {};
  return {
    caption: text,
    ...(entities.length === 0 ? {} : { caption_entities: entities.slice(0, MAX_ENTITIES) }),
  };
}

/**
 * Returns the validated inline keyboard of a call, if any; only buttons with data are supported.
 * @throws Refusal with status 400
 */
export function parseKeyboard(params: RequestParams): { reply_markup?: unknown } {
  const markup = params.json('reply_markup');
  if (markup === undefined) return {};
  const rows = isRecord(markup) ? markup.inline_keyboard : undefined;
  if (!Array.isArray(rows)) throw createBadRequestRefusal('object expected as reply markup');
  for (const row of rows) {
    if (!Array.isArray(row))
      throw createBadRequestRefusal("can't parse inline keyboard: expected an Array");
    for (const button of row) checkButton(button);
  }
  return rows.flat().length === 0 ? {} : { reply_markup: markup };
}

function parseText(raw: string, params: RequestParams, beside: string): FormattedText {
  const mode = params.text('parse_mode') ?? '';
  switch (mode.toLowerCase()) {
    case '':
      return { text: raw, entities: parseEntities(params.json(beside)) };
    case 'html':
      return parseHtml(raw);
    case 'markdown':
    case 'markdownv2':
      throw createBadRequestRefusal(
        `can't parse entities: this double reads HTML only, not ${mode}`,
      );
    default:
      throw createBadRequestRefusal('unsupported parse_mode');
  }
}

function parseHtml(raw: string): FormattedText {
  try {
    return parseTelegramHtml(raw);
  } catch (error) {
    if (error instanceof TelegramHtmlError) {
      throw createBadRequestRefusal(`can't parse entities: ${error.message}`);
    }
    throw error;
  }
}

function parseEntities(list: unknown): HtmlEntity[] {
  if (!Array.isArray(list)) return [];
  return list.map((item: unknown) => {
    if (!isRecord(item)) throw createBadRequestRefusal("can't parse entities: expected an Object");
    const { type, offset, length, ...more } = item;
    if (typeof type !== 'string')
      throw createBadRequestRefusal("can't parse entities: entity has no type");
    return { ...more, type, offset: Number(offset), length: Number(length) };
  });
}

/**
 * Telegram drops carriage returns, replaces other control characters with spaces, and trims both
 * ends.
 */
function normalizeText(raw: FormattedText): FormattedText {
  const kept: string[] = [];
  const moved: number[] = [];
  for (const unit of raw.text.split('')) {
    moved.push(kept.length);
    if (unit === '\r') continue;
    kept.push(unit < ' ' && unit !== '\n' && unit !== '\t' ? ' ' : unit);
  }
  moved.push(kept.length);
  const clean = kept.join('');
  const start = clean.length - clean.trimStart().length;
  const text = clean.trim();
  const place = (at: number) =>
    Math.min(Math.max((moved[at] ?? clean.length) - start, 0), text.length);
  const entities = raw.entities
    .map((entity) => {
      const offset = place(entity.offset);
      return { ...entity, offset, length: place(entity.offset + entity.length) - offset };
    })
    .filter(({ offset, length }) => text.slice(offset, offset + length).trim() !== '');
  return { text, entities };
}

const BUTTON_FIELDS = new Set(['text', 'callback_data', 'style', 'icon_custom_emoji_id']);
const BUTTON_STYLES = new Set(['danger', 'success', 'primary']);

/** Other kinds of buttons have other fields and are refused, as are invalid colors. */
function checkButton(button: unknown): void {
  const key = isRecord(button) ? button : {};
  const unknown = Object.keys(key).find((field) => !BUTTON_FIELDS.has(field));
  if (unknown !== undefined)
    throw createBadRequestRefusal(
      `can't parse inline keyboard button: this double does not support field "${unknown}"`,
    );
  const { text, callback_data, style } = key;
  if (style !== undefined && !(typeof style === 'string' && BUTTON_STYLES.has(style)))
    throw createBadRequestRefusal(
      "can't parse inline keyboard button: invalid button style specified",
    );
  if (typeof text !== 'string' || text.trim() === '') {
    throw createBadRequestRefusal("can't parse inline keyboard button: Text buttons are unallowed");
  }
  const bytes = typeof callback_data === 'string' ? Buffer.byteLength(callback_data) : 0;
  if (bytes < 1 || bytes > 64) throw createBadRequestRefusal('BUTTON_DATA_INVALID');
}
