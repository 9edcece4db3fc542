import { createHash } from 'node:crypto';
import { z } from 'zod';
import { Refusal } from './api-server.ts';

const ReplyButton = z.strictObject({
  type: z.literal('reply'),
  reply: z.strictObject({ id: z.string().max(256), title: z.string().min(1).max(20) }),
});
const Row = z.strictObject({
  id: z.string().max(200),
  title: z.string().min(1).max(24),
  description: z.string().max(72).optional(),
});
const Words = (max: number) => z.strictObject({ text: z.string().min(1).max(max) });
const around = {
  header: z.strictObject({ type: z.literal('text'), text: z.string().max(60) }).optional(),
  footer: Words(60).optional(),
};
const Interactive = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('button'),
    ...around,
    body: Words(1_024),
    action: z.strictObject({ buttons: z.array(ReplyButton).min(1).max(3) }),
  }),
  z.strictObject({
    type: z.literal('list'),
    ...around,
    body: Words(4_096),
    action: z.strictObject({
      button: z.string().min(1).max(20),
      sections: z.array(z.strictObject({ title: z.string().max(24), rows: z.array(Row) })).max(10),
    }),
  }),
  z.strictObject({
    type: z.literal('cta_url'),
    ...around,
    body: Words(1_024),
    action: z.strictObject({
      name: z.literal('cta_url'),
      parameters: z.strictObject({ display_text: z.string().max(20), url: z.url() }),
    }),
  }),
]);

const Media = z.strictObject({
  id: z.string().optional(),
  link: z.url().optional(),
  caption: z.string().max(1_024).optional(),
  filename: z.string().optional(),
});
const common = {
  messaging_product: z.literal('whatsapp'),
  recipient_type: z.literal('individual').optional(),
  /** A phone number. */
  to: z.string().optional(),
  /** A business-scoped id; a phone number takes precedence over it. */
  recipient: z.string().optional(),
  context: z.strictObject({ message_id: z.string() }).optional(),
  /** Returned in this message's statuses. */
  biz_opaque_callback_data: z.string().max(512).optional(),
};

/** A request to `/messages` that sends a message. */
export const SentMessage = z.discriminatedUnion('type', [
  z.strictObject({
    ...{ ...common, type: z.literal('text') },
    text: z.strictObject({
      preview_url: z.boolean().optional(),
      body: z.string().min(1).max(4_096),
    }),
  }),
  z.strictObject({ ...common, type: z.literal('interactive'), interactive: Interactive }),
  z.strictObject({ ...common, type: z.literal('image'), image: Media }),
  z.strictObject({ ...common, type: z.literal('document'), document: Media }),
  z.strictObject({ ...common, type: z.literal('audio'), audio: Media }),
  z.strictObject({ ...common, type: z.literal('video'), video: Media }),
  z.strictObject({
    ...{ ...common, type: z.literal('template') },
    template: z.looseObject({ name: z.string(), language: z.looseObject({ code: z.string() }) }),
  }),
  z.strictObject({
    ...{ ...common, type: z.literal('reaction') },
    reaction: z.strictObject({ message_id: z.string(), emoji: z.string() }),
  }),
]);
export type SentMessage = z.infer<typeof SentMessage>;

export interface CloudFile {
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
}

/** The text and buttons of a message, and the media it refers to. */
export interface CloudContent {
  readonly text: string;
  readonly buttons: readonly { readonly id: string; readonly title: string }[];
  readonly media: string | undefined;
}

/** @throws Refusal when two buttons have the same id or title */
export function readContent(message: SentMessage): CloudContent {
  switch (message.type) {
    case 'text':
      return { text: message.text.body, buttons: [], media: undefined };
    case 'interactive':
      return { ...readInteractive(message.interactive), media: undefined };
    case 'template':
      return { text: `[${message.template.name}]`, buttons: [], media: undefined };
    case 'reaction':
      return { text: '', buttons: [], media: undefined };
    default: {
      const { image, document, audio, video } = { ...NO_MEDIA, ...message };
      const { id, link, caption = '' } = image ?? document ?? audio ?? video ?? {};
      return { text: caption, buttons: [], media: id ?? link };
    }
  }
}

type MediaFields = Partial<Record<'image' | 'document' | 'audio' | 'video', z.infer<typeof Media>>>;
const NO_MEDIA: MediaFields = {};

function readInteractive(interactive: z.infer<typeof Interactive>) {
  const { header, body, footer } = interactive;
  const text = [header?.text, body.text, footer?.text].filter(Boolean).join('\n');
  if (interactive.type === 'cta_url') return { text, buttons: [] };
  const buttons =
    interactive.type === 'button'
      ? interactive.action.buttons.map(({ reply }) => reply)
      : interactive.action.sections.flatMap(({ rows }) => rows);
  for (const field of ['id', 'title'] as const) {
    if (interactive.type === 'list' && field === 'title') continue;
    if (new Set(buttons.map((one) => one[field])).size === buttons.length) continue;
    throw createRefusal(400, 131_009, 'Parameter value is not valid', `Duplicate button ${field}.`);
  }
  if (buttons.length > 10)
    throw createRefusal(400, 131_009, 'Parameter value is not valid', 'Rows.');
  return { text, buttons: buttons.map(({ id, title }) => ({ id, title })) };
}

/** An error of the Graph API. */
export function createRefusal(
  status: number,
  code: number,
  title: string,
  details: string,
): Refusal {
  return new Refusal(status, {
    error: {
      ...{ message: `(#${code}) ${title}`, type: 'OAuthException', code },
      error_data: { messaging_product: 'whatsapp', details },
      fbtrace_id: 'AbCdEfGhIjKlMnOpQrStUv',
    },
  });
}

/** A message with a file, as delivered by a webhook. */
export function createMediaContent(
  { type, name, bytes }: CloudFile,
  id: string,
  caption: string,
): object {
  const sha256 = createHash('sha256').update(bytes).digest('base64');
  const common = { id, mime_type: type, sha256, ...(caption === '' ? {} : { caption }) };
  return type.startsWith('image/')
    ? { type: 'image', image: common }
    : { type: 'document', document: { ...common, filename: name } };
}
