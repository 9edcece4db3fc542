import type { APIMessage } from 'discord-api-types/v10';

export type Json = Readonly<Record<string, unknown>>;

export interface WireUser {
  readonly id: string;
  readonly username: string;
  readonly global_name: string | null;
  readonly discriminator: string;
  avatar: string | null;
  readonly bot?: boolean;
}

/** A file attached to a message; `url` is signed and expires. */
export interface WireAttachment {
  readonly id: string;
  readonly filename: string;
  readonly size: number;
  readonly url: string;
  readonly proxy_url: string;
  readonly content_type?: string;
  readonly description?: string;
  /** Set for voice messages, together with `waveform`. */
  readonly duration_secs?: number;
  readonly waveform?: string;
}

/** An emoji and the number of people who reacted to a message with it. */
export interface WireReaction {
  readonly emoji: { readonly id: string | null; readonly name: string };
  readonly count: number;
  readonly me: boolean;
}

/** The message that this one replies to (0) or forwards (1). */
interface WireReference {
  readonly type: 0 | 1;
  readonly message_id?: string;
  readonly channel_id: string;
  readonly guild_id?: string;
}

/** A message as REST returns it; events add `guild_id` and `member`. Times are ISO 8601 strings. */
export interface WireMessage
  extends Readonly<
    Pick<APIMessage, 'poll' | 'sticker_items' | 'activity' | 'application' | 'shared_client_theme'>
  > {
  readonly id: string;
  readonly channel_id: string;
  readonly type: number;
  readonly author: WireUser;
  readonly content: string;
  readonly timestamp: string;
  readonly edited_timestamp: string | null;
  readonly tts: boolean;
  readonly pinned: boolean;
  readonly flags: number;
  readonly mention_everyone: boolean;
  readonly mentions: readonly WireUser[];
  readonly mention_roles: readonly string[];
  readonly attachments: readonly WireAttachment[];
  readonly embeds: readonly Json[];
  readonly components: readonly Json[];
  readonly reactions?: readonly WireReaction[];
  readonly nonce?: string | number;
  readonly message_reference?: WireReference;
  readonly referenced_message?: WireMessage | null;
  readonly message_snapshots?: readonly { readonly message: Partial<WireMessage> }[];
  readonly webhook_id?: string;
  readonly application_id?: string;
  readonly interaction_metadata?: Json;
  readonly thread?: Json;
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
