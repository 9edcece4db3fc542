import { z } from 'zod';
import { ParleyError } from './errors.ts';
import { ChatType } from './inbound-message.ts';

/** The dialects the renderer can print; a platform names one and never formats text itself. */
export const Dialect = z.enum(['telegram', 'discord', 'whatsapp', 'plain', 'html', 'markdown']);
export type Dialect = z.infer<typeof Dialect>;

/** The form of text for one platform: dialect, longest part, and the unit in which it counts. */
export const RenderTarget = z.strictObject({
  dialect: Dialect,
  /** Longest part, in `unit`. Telegram: 4,096 after entity parsing. */
  maxLength: z.int().positive(),
  unit: z.enum(['utf16', 'codepoint', 'byte']),
  /** Text that looks like a mention may ping people; absent, it is shown but pings nobody (M05). */
  mentions: z.literal('live').optional(),
  /** Telegram: what an ordinary message cannot show (tables, headings, formulas) is printed as a rich one, too. */
  rich: z.literal(true).optional(),
  /** Several parts say which they are: `(2/5)`. */
  numbered: z.literal(true).optional(),
});
export type RenderTarget = z.infer<typeof RenderTarget>;

/** A token bucket: so many messages at once, then one every so many ms. */
export const Rate = z.strictObject({ burst: z.int().positive(), everyMs: z.number().positive() });
export type Rate = z.infer<typeof Rate>;

/** The declared capabilities of an adapter (F04); the core offers nothing that is not declared. */
export const Capabilities = z.strictObject({
  target: RenderTarget,
  /** The platform drops a second send with the same idempotency key, so a part may be sent again. */
  idempotentSend: z.boolean(),
  /** For so long after a send it knows the key, in ms; always when absent. */
  idempotentForMs: z.number().positive().optional(),
  typing: z.boolean(),
  edit: z.boolean(),
  delete: z.boolean(),
  react: z.boolean(),
  threads: z.boolean(),
  /** An answer can show which message it answers (G10). */
  quotes: z.literal(true).optional(),
  buttons: z.boolean(),
  /** A button can ask for words (G02). */
  inputs: z.literal(true).optional(),
  /** Most buttons of a part; eight when absent. */
  maxButtons: z.int().min(8).optional(),
  /**
   * The display of an unfinished answer: none, replacing the text before, or adding to it. Shown text stays with
   * `append`, so that an answer has the texts of all steps of its turn.
   */
  streaming: z.enum(['none', 'replace', 'append']),
  media: z.array(z.enum(['image', 'audio', 'voice', 'video', 'document'])),
  /** Largest file that can be sent, in bytes; absent: none can. */
  maxFileBytes: z.int().positive().optional(),
  /** The rates at which the core may send (D05); undefined where the library or platform needs no help. */
  rates: z
    .strictObject({ account: Rate.optional(), direct: Rate.optional(), group: Rate.optional() })
    .optional(),
});
export type Capabilities = z.infer<typeof Capabilities>;

/** The destination of an answer (F11): fixed when the message arrives, stored with it, never looked up again. */
export const ReplyRoute = z.strictObject({
  channel: z.string(),
  account: z.string(),
  chatId: z.string(),
  chatType: ChatType.optional(),
  threadId: z.string().optional(),
  /** The message being answered, where the platform can quote it. */
  replyToMessageId: z.string().optional(),
  /**
   * The platform's token of the inbound message; counts only with `replyToMessageId`, since parts that do not answer
   * it have neither.
   */
  response: z.string().optional(),
  /** The platform can quote; the agent may choose another message (G10). */
  quotes: z.literal(true).optional(),
  /** Answers are shown there while they are written. */
  streams: z.literal(true).optional(),
  /** Shown text cannot be taken back there: the answer has the texts of all steps of its turn. */
  appends: z.literal(true).optional(),
  /** Largest file that can be sent there, in bytes; absent: none can. */
  maxFileBytes: z.int().positive().optional(),
  /** Buttons there can ask for words. */
  inputs: z.literal(true).optional(),
  /** Most buttons of a part there; eight when absent. */
  maxButtons: z.int().optional(),
  /** A recording is shown there as a voice note. */
  voice: z.literal(true).optional(),
  /** An emoji that is put on a message while it is answered. */
  acknowledge: z.string().optional(),
  /** The actions there besides sending. */
  acts: z.array(z.enum(['react', 'edit', 'delete'])).optional(),
  target: RenderTarget,
});
export type ReplyRoute = z.infer<typeof ReplyRoute>;

/** One rendered piece of an answer: platform dialect, and the same text without any markup (M04). */
export const RenderedPart = z.strictObject({
  text: z.string(),
  plain: z.string(),
  /** The same as a rich message of Telegram; `text` is sent where that is refused. */
  rich: z.string().optional(),
});
export type RenderedPart = z.infer<typeof RenderedPart>;

/** A button below a part. Pressing it is as if that person had written `data`, as long as the part was not edited. */
export const Button = z.strictObject({
  label: z.string().min(1).max(64),
  /** At most 64 bytes: Telegram's limit, the shortest. */
  data: z.string().min(1).max(64),
  /** Its prominence, where the platform has colors: `success` agrees, `danger` refuses. Absent: as any button. */
  style: z.enum(['primary', 'success', 'danger']).optional(),
  /**
   * Pressing it asks for words, under this name: the person writes `data`, a space and the words. Only on routes with
   * `inputs`.
   */
  asks: z.string().min(1).max(45).optional(),
});
export type Button = z.infer<typeof Button>;

/** A file to send natively. */
export const OutboundFile = z.strictObject({
  kind: z.enum(['image', 'audio', 'voice', 'video', 'document']),
  name: z.string().min(1).max(255),
  mimeType: z.string(),
  /** In bytes. */
  size: z.int().nonnegative().optional(),
  /** Absolute and readable by this process; delivery sets it while it sends. */
  path: z.string().optional(),
});
export type OutboundFile = z.infer<typeof OutboundFile>;

/**
 * The path at which an adapter reads the file that it sends. @throws ChannelError where delivery could not provide
 * it.
 */
export function outboundFilePath({ name, path }: OutboundFile): string {
  if (path !== undefined) return path;
  const message = `The file ${name} is not kept any more, so it is not sent. Ask for it again.`;
  throw new ChannelError({ kind: 'refused' }, message);
}

/**
 * The action of a part on a message of its chat, instead of being sent: a reaction to any, a new text for an own one,
 * or its end. Each may be repeated. A new text takes the buttons away: they were about the old one.
 */
export const PartAct = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('react'), messageId: z.string(), emoji: z.string() }),
  z.strictObject({ kind: z.literal('edit'), messageId: z.string() }),
  z.strictObject({ kind: z.literal('delete'), messageId: z.string() }),
]);
export type PartAct = z.infer<typeof PartAct>;

/** Most buttons of a part on any platform: Discord has menus of 25, and two more can stand below one. */
const MAX_BUTTONS = 27;

/** The content of a part besides text, on platforms that declare it. */
export const PartExtras = z.strictObject({
  buttons: z.array(Button).min(1).max(MAX_BUTTONS).optional(),
  /** The part's text becomes its caption. */
  file: OutboundFile.optional(),
  act: PartAct.optional(),
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
  /** The part whose failure or uncertain fate this one reports; absent for everything else. */
  readonly noticeOf?: string;
  readonly route: ReplyRoute;
  readonly body: RenderedPart;
}

/** The platform's receipt for a part. */
export interface Receipt {
  readonly platformMessageId: string;
}

/**
 * Platform errors, translated at the adapter into what the delivery pipeline must do:
 * wait, send plain text, give up on this chat, give up on this part, try again, or admit not knowing.
 */
export type ChannelFailure =
  | {
      readonly kind: 'rate-limited';
      readonly retryAfterMs: number;
      readonly scope: 'chat' | 'account';
    }
  | { readonly kind: 'refused-format' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'forbidden' }
  | { readonly kind: 'refused' }
  /** `untried`: there was no connection to try it on. */
  | { readonly kind: 'transient'; readonly untried?: true }
  | { readonly kind: 'unknown-outcome' };

const RETRYABLE: ReadonlySet<ChannelFailure['kind']> = new Set(['rate-limited', 'transient']);

/** The only error an adapter's `send` may throw; anything else counts as `unknown-outcome`. */
export class ChannelError extends ParleyError {
  readonly failure: ChannelFailure;

  constructor(failure: ChannelFailure, message: string, cause?: unknown) {
    super({
      code: `channel-${failure.kind}`,
      message,
      retryable: RETRYABLE.has(failure.kind),
      cause,
    });
    this.failure = failure;
  }
}

/** One value to keep under (kind, id); null removes it. */
export interface AdapterValue {
  readonly kind: string;
  readonly id: string;
  readonly value: string | null;
}

/**
 * Values that one channel account keeps and the core never reads: session keys, offsets. As durable as messages.
 * Values are text, so an adapter decides how to write and check its own.
 */
export interface AdapterValues {
  /** The values there are, by id; ids without one are missing from the answer. */
  get(kind: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Writes all or nothing, and has written when it resolves. The last of two changes to one id counts. */
  set(changes: readonly AdapterValue[]): Promise<void>;
  /** Forgets everything of this account: it was logged out. */
  clear(): Promise<void>;
}
