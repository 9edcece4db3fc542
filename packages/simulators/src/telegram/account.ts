import type { Optional } from '../optional-fields.ts';
import { Chats } from './chats.ts';
import { Files, type LocalServer } from './files.ts';
import type { FloodControl } from './flood.ts';
import type { Transcript } from './transcript.ts';
import { UpdateQueue } from './update-queue.ts';
import { WebhookCaller } from './webhook-caller.ts';
import type { WireUser } from './wire.ts';

/** An unfinished text shown by sendMessageDraft. */
export interface Draft {
  readonly chatId: number;
  readonly draftId: number;
  readonly text: string;
}

/** Everything the servers know of one bot. */
export interface BotAccount {
  readonly me: WireUser;
  readonly chats: Chats;
  readonly updates: UpdateQueue;
  readonly webhook: WebhookCaller;
  readonly transcript: Transcript;
  readonly flood: FloodControl;
  readonly clock: () => number;
  /** What setMyCommands stored, by scope and language. */
  readonly commands: Map<string, unknown>;
  readonly files: Files;
  /** The sizes of its picture, as `PhotoSize`; null: it has none. */
  readonly picture: unknown;
  /** Pressed buttons by the id of their query. */
  readonly queries: Map<string, { readonly pressedAt: number; answered: boolean }>;
  /** Custom emoji that people have reacted with, and what each resembles. */
  readonly customEmoji: Map<string, string>;
  /** All drafts in the order they were shown. */
  readonly drafts: Draft[];
}

/** A bot nobody has written to yet; its id is the number in front of the token. */
export function newAccount(
  token: string,
  parts: Pick<BotAccount, 'transcript' | 'flood' | 'clock'> & {
    readonly webhookTarget?: string | undefined;
    readonly optional?: Optional | undefined;
    readonly localServer?: LocalServer | undefined;
    readonly bytesOfPicture?: Uint8Array<ArrayBuffer> | undefined;
  },
): BotAccount {
  const me = {
    id: Number(token.split(':')[0]),
    is_bot: true,
    first_name: 'Parley',
    username: 'parley_test_bot',
    can_join_groups: true,
    can_read_all_group_messages: true,
    supports_inline_queries: false,
  };
  const updates: UpdateQueue = new UpdateQueue(100_000, () => {
    parts.transcript.changes.changed();
    webhook.wake();
  });
  updates.optional = parts.optional ?? 'present';
  const webhook = new WebhookCaller(updates, parts.clock, parts.webhookTarget);
  const files = new Files(parts.clock, token, parts.localServer);
  const { bytesOfPicture: bytes } = parts;
  return {
    me,
    picture: bytes === undefined ? null : files.store({ kind: 'photo', bytes }).photo,
    chats: new Chats(),
    updates,
    webhook,
    commands: new Map(),
    files,
    queries: new Map(),
    customEmoji: new Map(),
    drafts: [],
    ...parts,
  };
}
