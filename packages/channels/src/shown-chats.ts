import type { Button, OutboundFile, RenderedPart, ToolCallOfTurn } from '@parley/core';
import type { MessageFile, StoredAttachment } from '@parley/store';
import type { MediaLimits } from './attachments/fetch-plan.ts';

/** The chats of a channel that has its own page with more than one history. */
export interface ChatsCapability {
  readonly media: MediaLimits;
  /**
   * Whether `needed` more bytes may be kept; old files are deleted to free space. `person` is the
   * sender whose share is charged; null for an owner.
   */
  hasRoom(needed: number, person: string | null): Promise<boolean>;
  /**
   * All chats of the account, newest first; `first` is the first text, of any length. `answeredAt`
   * is when a message part was last sent to the chat, in ms; 0 if none was sent.
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
  /**
   * Calls back on changes in any conversation of the gateway; returns a function that unsubscribes.
   */
  onChange(listener: () => void): () => void;
  /** The tool calls of turns, in order. */
  calls(turnIds: readonly string[]): Promise<readonly ToolCallOfTurn[]>;
  /**
   * A file sent to the chat, looked up by its part; null when the part is unknown or the file is no
   * longer stored.
   */
  sentFile(chatId: string, partId: string): Promise<MessageFile | null>;
  /**
   * A file of a message in the chat; null when the message is unknown or the file is no longer
   * stored.
   */
  file(chatId: string, messageId: string, index: number): Promise<MessageFile | null>;
}

/**
 * One entry of a chat, as shown to the person. Times in ms. `isRewound`: a rewind has removed it
 * from the history that the model reads (G23).
 */
export type HistoryEntry =
  | {
      readonly kind: 'inbound';
      readonly messageId: string;
      readonly text: string;
      readonly files?: readonly StoredAttachment[];
      readonly at: number;
      /** Null while the message waits for its turn; afterwards, how that turn ended. */
      readonly outcome: string | null;
      /** The turn that answers or answered the message; null when none has started. */
      readonly turnId?: string | null;
      readonly isRewound?: true;
    }
  | {
      readonly kind: 'outbound';
      readonly partId: string;
      readonly turnId: string | null;
      /**
       * The message that this part answers without a turn, such as a command, provided that the
       * same history contains it.
       */
      readonly answers?: string;
      readonly body: RenderedPart;
      readonly buttons?: readonly Button[];
      readonly file?: OutboundFile;
      readonly at: number;
      readonly isRewound?: true;
    }
  /** The id of a message or part that was replaced by a later message and is no longer shown. */
  | { readonly kind: 'replaced'; readonly id: string; readonly at: number };
