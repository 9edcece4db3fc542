import { z } from 'zod';

/** The dialects the renderer can print; a platform names one and never formats text itself. */
export const Dialect = z.enum(['telegram', 'discord', 'whatsapp', 'plain', 'html']);
export type Dialect = z.infer<typeof Dialect>;

/** How one platform wants text: dialect, longest part, and the unit in which it counts. */
export const RenderTarget = z.strictObject({
  dialect: Dialect,
  /** Longest part, in `unit`. Telegram: 4,096 after entity parsing. */
  maxLength: z.int().positive(),
  unit: z.enum(['utf16', 'codepoint', 'byte']),
  /** What looks like a mention may ping people; absent, it is shown but dead (M05). */
  mentions: z.literal('live').optional(),
  /** Several parts say which they are: `(2/5)`. */
  numbered: z.literal(true).optional(),
});
export type RenderTarget = z.infer<typeof RenderTarget>;

/** A token bucket: so many messages at once, then one every so many ms. */
export const Rate = z.strictObject({ burst: z.int().positive(), everyMs: z.number().positive() });
export type Rate = z.infer<typeof Rate>;

/** What an adapter declares it can do (F04); the core offers nothing that is not declared. */
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
  /** How an unfinished answer is shown: not at all, or by replacing what was shown before. */
  streaming: z.enum(['none', 'replace']),
  media: z.array(z.enum(['image', 'audio', 'voice', 'video', 'document'])),
  /** How fast the core may send (D05); undefined where the library or platform needs no help. */
  rates: z
    .strictObject({ account: Rate.optional(), direct: Rate.optional(), group: Rate.optional() })
    .optional(),
});
export type Capabilities = z.infer<typeof Capabilities>;
