import { z } from 'zod';
import { ParleyError } from './errors.ts';
import { ChatType } from './inbound-message.ts';

/**
 * The dialects that the renderer can produce. A platform names a dialect and never formats text
 * itself.
 */
export const Dialect = z.enum([
  'telegram',
  'discord',
  'whatsapp',
  'slack',
  'google-chat',
  'teams',
  'gfm',
  'plain',
  'html',
  'markdown',
]);
export type Dialect = z.infer<typeof Dialect>;

/**
 * The text format of a platform: its dialect, the maximum length of a part, and the unit in which
 * the length is counted.
 */
export const RenderTarget = z.strictObject({
  dialect: Dialect,
  /** The maximum length of a part, in `unit`. Telegram's limit is 4,096 after entity parsing. */
  maxLength: z.int().positive(),
  unit: z.enum(['utf16', 'codepoint', 'byte']),
  /**
   * Whether text that looks like a mention may notify people; when absent, mentions are shown but
   * notify nobody (M05).
   */
  mentions: z.literal('live').optional(),
  /**
   * For Telegram: content that an ordinary message cannot show (tables, headings, formulas) is also
   * rendered as a rich message.
   */
  rich: z.literal(true).optional(),
  /** Whether multiple parts are numbered: `(2/5)`. */
  numbered: z.literal(true).optional(),
});
export type RenderTarget = z.infer<typeof RenderTarget>;

/**
 * The parameters of a token bucket: a burst of `burst` messages, then one every `everyMs`
 * milliseconds.
 */
export const Rate = z.strictObject({ burst: z.int().positive(), everyMs: z.number().positive() });
export type Rate = z.infer<typeof Rate>;

/** The declared capabilities of an adapter (F04). The core uses only declared capabilities. */
export const Capabilities = z.strictObject({
  target: RenderTarget,
  /**
   * Whether the platform ignores a second send with the same idempotency key, so that a part may
   * safely be sent again.
   */
  idempotentSend: z.boolean(),
  /** How long the platform remembers the key after a send, in ms; forever when absent. */
  idempotentForMs: z.number().positive().optional(),
  typing: z.boolean(),
  edit: z.boolean(),
  delete: z.boolean(),
  react: z.boolean(),
  threads: z.boolean(),
  /** Whether an answer can show which message it answers (G10). */
  quotes: z.literal(true).optional(),
  buttons: z.boolean(),
  /** Whether a button can ask for text (G02). */
  inputs: z.literal(true).optional(),
  /** The maximum number of buttons of a part; eight when absent. */
  maxButtons: z.int().min(8).optional(),
  /**
   * How an unfinished answer is shown: not at all, by replacing the previous text, or by appending
   * to it. With `append`, shown text remains, so the answer contains the text of every step of its
   * turn.
   */
  streaming: z.enum(['none', 'replace', 'append']),
  media: z.array(z.enum(['image', 'audio', 'voice', 'video', 'document'])),
  /** The largest file that can be sent, in bytes; absent when files cannot be sent. */
  maxFileBytes: z.int().positive().optional(),
  /**
   * The rates at which the core may send (D05); undefined when the library or the platform enforces
   * them.
   */
  rates: z
    .strictObject({ account: Rate.optional(), direct: Rate.optional(), group: Rate.optional() })
    .optional(),
});
export type Capabilities = z.infer<typeof Capabilities>;

/**
 * The destination of an answer (F11): determined when the message arrives, stored with it, and
 * never looked up again.
 */
export const ReplyRoute = z.strictObject({
  channel: z.string(),
  account: z.string(),
  chatId: z.string(),
  chatType: ChatType.optional(),
  threadId: z.string().optional(),
  /** The message being answered, if the platform can quote it. */
  replyToMessageId: z.string().optional(),
  /**
   * The platform's token for the inbound message. The token is used only with `replyToMessageId`;
   * parts that do not answer that message have neither field.
   */
  response: z.string().optional(),
  /** Whether the platform can quote; the agent may then choose another message (G10). */
  quotes: z.literal(true).optional(),
  /** Whether answers are streamed in the chat. */
  streams: z.literal(true).optional(),
  /**
   * Whether shown text cannot be removed in the chat, so that the answer contains the text of every
   * step of its turn.
   */
  appends: z.literal(true).optional(),
  /** The largest file that can be sent to the chat, in bytes; absent when files cannot be sent. */
  maxFileBytes: z.int().positive().optional(),
  /** Whether buttons in the chat can ask for text. */
  inputs: z.literal(true).optional(),
  /** The maximum number of buttons of a part in the chat; eight when absent. */
  maxButtons: z.int().optional(),
  /** Whether the chat shows a recording as a voice note. */
  voice: z.literal(true).optional(),
  /** The emoji that marks a message while it is being answered. */
  acknowledge: z.string().optional(),
  /** The actions available in the chat besides sending. */
  acts: z.array(z.enum(['react', 'edit', 'delete'])).optional(),
  target: RenderTarget,
});
export type ReplyRoute = z.infer<typeof ReplyRoute>;

/**
 * A rendered part of an answer: in the platform's dialect, and as the same text without markup
 * (M04).
 */
export const RenderedPart = z.strictObject({
  text: z.string(),
  plain: z.string(),
  /** The same content as a Telegram rich message; if Telegram refuses it, `text` is sent. */
  rich: z.string().optional(),
});
export type RenderedPart = z.infer<typeof RenderedPart>;

/**
 * A button below a part. Pressing the button has the same effect as writing `data`, as long as the
 * part has not been edited.
 */
export const Button = z.strictObject({
  label: z.string().min(1).max(64),
  /** At most 64 bytes, which is Telegram's limit and the lowest of all platforms. */
  data: z.string().min(1).max(64),
  /** The style on platforms with colored buttons: `success` agrees, `danger` refuses. */
  style: z.enum(['primary', 'success', 'danger']).optional(),
  /**
   * The name of a text input: pressing the button asks for text, and the person's message becomes
   * `data`, a space and the text. Allowed only on routes with `inputs`.
   */
  asks: z.string().min(1).max(45).optional(),
});
export type Button = z.infer<typeof Button>;

/** A file to send natively. */
export const OutboundFile = z.strictObject({
  kind: z.enum(['image', 'audio', 'voice', 'video', 'document']),
  name: z.string().min(1).max(255),
  mimeType: z.string(),
  /** The size in bytes. */
  size: z.int().nonnegative().optional(),
  /** The absolute path of the file, readable by this process; set by delivery while it sends. */
  path: z.string().optional(),
});
export type OutboundFile = z.infer<typeof OutboundFile>;

/**
 * Returns the path from which an adapter reads the file that it sends.
 * @throws Throws ChannelError if delivery could not provide the file.
 */
export function getOutboundFilePath({ name, path }: OutboundFile): string {
  if (path !== undefined) return path;
  const message = `The file ${name} is no longer kept, so it was not sent. Ask for it again.`;
  throw new ChannelError({ kind: 'refused' }, message);
}

/**
 * An action on a message in the chat, performed instead of sending a part: adds a reaction to any
 * message, or edits or deletes one of the bot's own messages. Each action may be repeated. An edit
 * removes the buttons, because they belonged to the old text.
 */
export const PartAction = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('react'), messageId: z.string(), emoji: z.string() }),
  z.strictObject({ kind: z.literal('edit'), messageId: z.string() }),
  z.strictObject({ kind: z.literal('delete'), messageId: z.string() }),
]);
export type PartAction = z.infer<typeof PartAction>;

/**
 * The maximum number of buttons of a part on any platform: Discord has menus of 25 entries, and two
 * more buttons fit below a menu.
 */
const MAX_BUTTONS = 27;

/** The content of a part besides its text, on platforms that declare it. */
export const PartExtras = z.strictObject({
  buttons: z.array(Button).min(1).max(MAX_BUTTONS).optional(),
  /** The text of the part becomes the file's caption. */
  file: OutboundFile.optional(),
  act: PartAction.optional(),
});
export type PartExtras = z.infer<typeof PartExtras>;

/** One row of the outbox (D04): what an adapter is asked to send, exactly once where possible. */
export interface OutboundPart extends PartExtras {
  readonly id: string;
  /**
   * The idempotency key, with at most 25 characters, the shortest limit of any platform (Discord's
   * nonce).
   */
  readonly idempotencyKey: string;
  /** The turn that wrote the part; absent for answers to commands and for notices. */
  readonly turnId: string | null;
  /**
   * The position of the part in its turn's answer, from 0. The part replaces the text that was
   * streamed at this position.
   */
  readonly index: number | null;
  /** Whether this is the last part of its answer; text that was streamed beyond it is discarded. */
  readonly isLast?: boolean;
  /** The part whose failure or unknown outcome this notice reports; absent for other parts. */
  readonly noticeOf?: string;
  readonly route: ReplyRoute;
  readonly body: RenderedPart;
}

/** The platform's receipt for a part. */
export interface Receipt {
  readonly platformMessageId: string;
}

/**
 * Platform errors, translated by the adapter into the action of the delivery pipeline: wait, send
 * plain text, disable the chat, drop the part, try again, or report an unknown outcome.
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
  /** `untried`: there was no connection over which to send. */
  | { readonly kind: 'transient'; readonly untried?: true }
  | { readonly kind: 'unknown-outcome' };

const RETRYABLE: ReadonlySet<ChannelFailure['kind']> = new Set(['rate-limited', 'transient']);

/**
 * The only error that an adapter's `send` may throw; any other error counts as `unknown-outcome`.
 */
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

/** A value to store under (kind, id); null removes the stored value. */
export interface AdapterValue {
  readonly kind: string;
  readonly id: string;
  readonly value: string | null;
}

/**
 * Values that a channel account stores and the core never reads, such as session keys and offsets.
 * The values are stored as durably as messages. Values are text, so each adapter encodes and
 * validates its own.
 */
export interface AdapterValues {
  /** Returns the stored values by id; ids without a value are missing from the result. */
  get(kind: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /**
   * Writes all changes or none; once the promise resolves, they are stored. Of two changes to the
   * same id, the last one counts.
   */
  set(changes: readonly AdapterValue[]): Promise<void>;
  /** Deletes all values of this account, because it was logged out. */
  clear(): Promise<void>;
}
