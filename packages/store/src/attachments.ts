import type { Attachment } from '@parley/contracts';

/** Names an attachment: its message and which of that message's attachments it is, from 0. */
export interface AttachmentKey {
  readonly messageSeq: number;
  readonly index: number;
}

/** An attachment whose bytes are still with the platform. Sizes in bytes, times in ms. */
export interface DueAttachment extends AttachmentKey {
  readonly conversationId: string;
  readonly attachment: Attachment;
  /** Failed tries so far. */
  readonly attempts: number;
  /** What was fetched of the same message already. */
  readonly bytesTaken: number;
}

/** An attachment as a turn finds it; its bytes are asked for one by one. */
export interface StoredAttachment extends AttachmentKey {
  readonly kind: Attachment['kind'];
  /** Chosen by its sender; never trusted. */
  readonly name: string | null;
  readonly mimeType: string | null;
  readonly state: 'pending' | 'ready' | 'failed';
  /** Why it failed, in words for people that follow "because"; null otherwise. */
  readonly reason: string | null;
  /** What was said in it, once it was transcribed. */
  readonly text: string | null;
}

/**
 * What people sent besides text. Rows come with their message; the gateway that owns the account
 * fetches the bytes into them, so that a worker on any machine can read them.
 */
export interface AttachmentRepository {
  /** What an account has to fetch at `now`, oldest messages first; nothing of messages that are over. */
  due(
    channel: string,
    account: string,
    now: number,
    limit: number,
  ): Promise<readonly DueAttachment[]>;
  /** pending → ready. Without effect on one that is not pending. */
  keep(key: AttachmentKey, bytes: Uint8Array, now: number): Promise<void>;
  /** Counts a failed try; the next one not before `notBefore`. */
  retryLater(key: AttachmentKey, notBefore: number, now: number): Promise<void>;
  /** pending → failed, for good. */
  fail(key: AttachmentKey, reason: string, now: number): Promise<void>;
  /** The attachments of some messages, in the order in which they were sent. */
  ofMessages(messageSeqs: readonly number[]): Promise<readonly StoredAttachment[]>;
  /** The bytes of one that is ready; null when they are not there (any more). */
  bytes(key: AttachmentKey): Promise<Uint8Array | null>;
  /** Remembers what was said in an attachment, so that a resumed turn need not listen again. */
  keepText(key: AttachmentKey, text: string, now: number): Promise<void>;
  /** How many bytes are kept of all accounts together. */
  bytesKept(): Promise<number>;
  /**
   * Drops what no turn will read: bytes that were fetched before `before` and whose message is over.
   * The row stays, so that a history can say that there was a file.
   */
  forget(before: number, now: number): Promise<void>;
}
