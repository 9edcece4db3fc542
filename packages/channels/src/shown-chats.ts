import type { Button, OutboundFile, RenderedPart, ToolCallOfTurn } from '@parley/core';
import type { KeptFile, StoredAttachment } from '@parley/store';
import type { MediaLimits } from './attachments/fetch-plan.ts';

/** The chats that a channel with a page of its own shows besides a history. */
export interface ChatsCapability {
  /** Bounds of the files that are taken in. */
  readonly media: MediaLimits;
  /**
   * Whether `needed` more bytes may be kept; old files make room. `person`: their sender, who has a share of it; null for
   * an owner.
   */
  hasRoom(needed: number, person: string | null): Promise<boolean>;
  /**
   * All chats of the account, newest first; `first` is the first thing said, of any length. `answeredAt`: when
   * something was last sent there, in ms; 0: never.
   */
  list(): Promise<
    readonly {
      readonly id: string;
      readonly conversation: string;
      readonly first: string;
      readonly at: number;
      readonly answeredAt: number;
    }[]
  >;
  /** Calls back on changes in any conversation of the gateway; returns what ends that. */
  onChange(listener: () => void): () => void;
  /** The tools that turns have called, in their order. */
  calls(turnIds: readonly string[]): Promise<readonly ToolCallOfTurn[]>;
  /** A file that was sent to the chat, by its part; null when it is not there (any more). */
  sentFile(chatId: string, partId: string): Promise<KeptFile | null>;
  /** A file of a message of the chat; null when it is not there (any more). */
  file(chatId: string, messageId: string, index: number): Promise<KeptFile | null>;
}

/** One line of a chat as the person sees it. Times in ms. */
export type HistoryEntry =
  | {
      readonly kind: 'inbound';
      readonly messageId: string;
      readonly text: string;
      readonly files?: readonly StoredAttachment[];
      readonly at: number;
      /** Null while it waits for its turn, else how that turn ended. */
      readonly outcome: string | null;
      /** The turn that answers it, or did; null: none has started. */
      readonly turnId?: string | null;
    }
  | {
      readonly kind: 'outbound';
      readonly partId: string;
      readonly turnId: string | null;
      /** The message that it answers without a turn, such as a command, if that is in the same history. */
      readonly answers?: string;
      readonly body: RenderedPart;
      readonly buttons?: readonly Button[];
      readonly file?: OutboundFile;
      readonly at: number;
    }
  /** Id of a message or a part that a later message has replaced: it is not shown any more. */
  | { readonly kind: 'replaced'; readonly id: string; readonly at: number };
