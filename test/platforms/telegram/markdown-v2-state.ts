import type { HtmlEntity } from './html-entity.ts';
import { bytes } from './html-lexer.ts';

/** The server's reason, without the "Bad Request: can't parse entities: " in front of it. */
export class TelegramMarkdownError extends Error {
  override readonly name = 'TelegramMarkdownError';
}

/** The server's names of what can be open; its refusals use them. */
export type Kind =
  | 'Bold'
  | 'Italic'
  | 'Underline'
  | 'Strikethrough'
  | 'Spoiler'
  | 'Code'
  | 'Pre'
  | 'PreCode'
  | 'TextUrl'
  | 'CustomEmoji'
  | 'BlockQuote';

/** A format that has begun. */
export interface OpenFormat {
  readonly kind: Kind;
  /** Where it begins in what people see. */
  readonly offset: number;
  /** Where its mark stands in the source. */
  readonly at: number;
  readonly language?: string;
}

/** How far reading has come. */
export interface ReadState {
  readonly source: string;
  at: number;
  text: string;
  readonly open: OpenFormat[];
  readonly found: HtmlEntity[];
  inQuote: boolean;
  /** Nothing but marks stands on this line so far. */
  atLineStart: boolean;
}

/**
 * Refuses the whole text.
 * @throws TelegramMarkdownError always.
 */
export function refuse(reason: string): never {
  throw new TelegramMarkdownError(reason);
}

/** Refuses a character that has a meaning, but not here. */
export function refuseReserved(character: string): never {
  refuse(`Character '${character}' is reserved and must be escaped with the preceding '\\'`);
}

/** Refuses a format that does not end. */
export function refuseOpen({ source }: ReadState, { kind, at }: OpenFormat): never {
  refuse(`Can't find end of ${kind} entity at byte offset ${bytes(source, at)}`);
}

/** Whether a backslash at this place takes the meaning of what follows. */
export function isEscape(source: string, at: number): boolean {
  const code = source.charCodeAt(at + 1);
  return source[at] === '\\' && code > 0 && code <= 126;
}
