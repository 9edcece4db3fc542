import { z } from 'zod';
import { RenderTarget } from './capabilities.ts';

/** Where an answer goes (F11): fixed when the message arrives, stored with it, never looked up again. */
export const ReplyRoute = z.strictObject({
  channel: z.string(),
  account: z.string(),
  chatId: z.string(),
  threadId: z.string().optional(),
  /** The message being answered, where the platform can quote it. */
  replyToMessageId: z.string().optional(),
  target: RenderTarget,
});
export type ReplyRoute = z.infer<typeof ReplyRoute>;

/** One rendered piece of an answer: platform dialect, and the same words without any markup (M04). */
export const RenderedPart = z.strictObject({ text: z.string(), plain: z.string() });
export type RenderedPart = z.infer<typeof RenderedPart>;

/** One row of the outbox (D04): what an adapter is asked to send, exactly once where it can. */
export interface OutboundPart {
  readonly id: string;
  /** At most 25 characters, the shortest limit of any platform (Discord's nonce). */
  readonly idempotencyKey: string;
  /** The turn that wrote it; absent for answers to commands and notices. */
  readonly turnId: string | null;
  /** The part whose failure or uncertain fate this one tells; absent for everything else. */
  readonly noticeOf?: string;
  readonly route: ReplyRoute;
  readonly body: RenderedPart;
}

/** What the platform said when it took a part. */
export interface Receipt {
  readonly platformMessageId: string;
  /** The chat has a new id for good (Telegram: a group became a supergroup). */
  readonly migratedTo?: string;
}
