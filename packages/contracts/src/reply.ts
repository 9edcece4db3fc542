import { z } from 'zod';
import { RenderTarget } from './capabilities.ts';
import { ChatType } from './inbound-message.ts';

/** Where an answer goes (F11): fixed when the message arrives, stored with it, never looked up again. */
export const ReplyRoute = z.strictObject({
  channel: z.string(),
  account: z.string(),
  chatId: z.string(),
  chatType: ChatType.optional(),
  threadId: z.string().optional(),
  /** The message being answered, where the platform can quote it. */
  replyToMessageId: z.string().optional(),
  /** The platform can quote; the agent may choose another message (G10). */
  quotes: z.literal(true).optional(),
  target: RenderTarget,
});
export type ReplyRoute = z.infer<typeof ReplyRoute>;

/** One rendered piece of an answer: platform dialect, and the same words without any markup (M04). */
export const RenderedPart = z.strictObject({ text: z.string(), plain: z.string() });
export type RenderedPart = z.infer<typeof RenderedPart>;

/** A button below a part. Pressing it is as if that person had written `data`. */
export const Button = z.strictObject({
  label: z.string().min(1).max(64),
  /** At most 64 bytes: Telegram's limit, the shortest. */
  data: z.string().min(1).max(64),
});
export type Button = z.infer<typeof Button>;

/** A file to send natively. `path` is absolute and readable by the gateway. */
export const OutboundFile = z.strictObject({
  kind: z.enum(['image', 'audio', 'voice', 'video', 'document']),
  name: z.string().min(1).max(255),
  mimeType: z.string(),
  path: z.string(),
});
export type OutboundFile = z.infer<typeof OutboundFile>;

/** What a part may carry besides text, on platforms that declare it. */
export const PartExtras = z.strictObject({
  buttons: z.array(Button).min(1).max(8).optional(),
  /** The part's text becomes its caption. */
  file: OutboundFile.optional(),
});
export type PartExtras = z.infer<typeof PartExtras>;

/** One row of the outbox (D04): what an adapter is asked to send, exactly once where it can. */
export interface OutboundPart extends PartExtras {
  readonly id: string;
  /** At most 25 characters, the shortest limit of any platform (Discord's nonce). */
  readonly idempotencyKey: string;
  /** The turn that wrote it; absent for answers to commands and notices. */
  readonly turnId: string | null;
  /** Which part of its turn's answer it is, from 0: what was streamed at this place becomes it. */
  readonly index: number | null;
  /** Nothing of that answer comes after it: what was streamed beyond this place is not part of it. */
  readonly isLast?: boolean;
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
