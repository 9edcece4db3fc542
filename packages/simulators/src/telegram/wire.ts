import type { HtmlEntity } from './parse-html.ts';
import { isRecord } from './request.ts';

/** The id of a chat or user, and further known fields. */
export type IdentifiedObject = { readonly id: number; readonly [field: string]: unknown };

/** A user as included in updates and messages; further fields of the Bot API may be added. */
export interface WireUser {
  readonly id: number;
  readonly is_bot: boolean;
  readonly first_name: string;
  readonly username?: string;
  readonly [field: string]: unknown;
}

/**
 * A chat as included in messages. Groups have negative ids; the ids of supergroups and channels
 * start with -100.
 */
export interface WireChat {
  readonly id: number;
  readonly type: 'private' | 'group' | 'supergroup' | 'channel';
  readonly title?: string;
  readonly username?: string;
  readonly first_name?: string;
  readonly is_forum?: boolean;
  /** Whether the chat holds the direct messages of a channel, with one topic per subscriber. */
  readonly is_direct_messages?: boolean;
}

/** A message in the Bot API's format; `date` is in seconds since 1970. */
export interface WireMessage {
  /** The message id; 0 for an ephemeral message. */
  readonly message_id: number;
  readonly ephemeral_message_id?: number;
  readonly receiver_user?: WireUser;
  readonly date: number;
  readonly chat: WireChat;
  readonly from?: WireUser;
  readonly text?: string;
  readonly entities?: readonly HtmlEntity[];
  readonly caption?: string;
  readonly caption_entities?: readonly HtmlEntity[];
  readonly message_thread_id?: number;
  readonly is_topic_message?: boolean;
  readonly direct_messages_topic?: { readonly topic_id: number; readonly user: WireUser };
  readonly business_connection_id?: string;
  readonly reply_to_message?: WireMessage;
  readonly edit_date?: number;
  readonly [field: string]: unknown;
}

/** One update, with its id and exactly one kind of content, for example `message`. */
export interface WireUpdate {
  readonly update_id: number;
  readonly [kind: string]: unknown;
}

/** A button that sends its data to the bot. */
interface WireButton {
  readonly text: string;
  readonly callback_data: string;
}

/** The buttons of a message, in reading order. */
export function listButtons({ reply_markup }: WireMessage): WireButton[] {
  const rows = isRecord(reply_markup) ? reply_markup.inline_keyboard : undefined;
  if (!Array.isArray(rows)) return [];
  return rows.flat().map((key: unknown) => {
    const { text, callback_data } = isRecord(key) ? key : {};
    return { text: String(text), callback_data: String(callback_data) };
  });
}
