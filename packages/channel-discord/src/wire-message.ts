import { withoutNulls } from '@parley/channels';
import { z } from 'zod';
import { field, kindNumber, Snowflake, text, validItems, WireMember, WireUser } from './wire.ts';

const WireAttachment = z.object({
  id: Snowflake,
  url: z.string().min(1),
  filename: z.string().catch('file'),
  /** The original name without its extension, before Discord removed characters from it. */
  title: field(z.string()),
  /** The sender's alternative text for people who cannot see the picture. */
  description: field(z.string()),
  size: field(z.int().nonnegative()),
  content_type: field(z.string()),
  /** Present only on voice messages. */
  waveform: field(z.string()),
  duration_secs: field(z.number().nonnegative()),
  flags: field(z.int()),
});
export type WireAttachment = z.infer<typeof WireAttachment>;

const WireSticker = z.object({
  id: Snowflake,
  name: z.string().catch('unnamed'),
  format_type: kindNumber,
});
export type WireSticker = z.infer<typeof WireSticker>;

/**
 * A file that Discord displays although it is not an attachment: the picture in an embed, or a file
 * in a bot's gallery.
 */
export const WireMedia = z.object({
  url: text,
  proxy_url: field(z.string()),
  content_type: field(z.string()),
  description: field(z.string()),
  attachment_id: field(Snowflake),
});
export type WireMedia = z.infer<typeof WireMedia>;

const Named = z.object({ name: text, url: field(z.string()) });

const WireEmbed = z.object({
  type: field(z.string()),
  title: text,
  description: text,
  url: field(z.string()),
  timestamp: field(z.string()),
  author: field(Named),
  provider: field(Named),
  footer: field(z.object({ text })),
  fields: validItems(z.object({ name: text, value: text })),
  image: field(WireMedia),
  thumbnail: field(WireMedia),
  video: field(WireMedia),
});
export type WireEmbed = z.infer<typeof WireEmbed>;

const PollMedia = z.object({
  text,
  emoji: field(z.object({ id: field(Snowflake), name: field(z.string()) })),
});

/** A question with predefined answers. */
const WirePoll = z.object({
  question: PollMedia.catch({ text: '' }),
  answers: validItems(z.object({ answer_id: field(z.int()), poll_media: PollMedia })),
  allow_multiselect: field(z.boolean()),
  expiry: field(z.string()),
  results: field(
    z.object({
      is_finalized: field(z.boolean()),
      answer_counts: validItems(z.object({ id: z.int(), count: z.int() })),
    }),
  ),
});
export type WirePoll = z.infer<typeof WirePoll>;

const WireMention = WireUser.extend({ member: field(WireMember) });
export type WireMention = z.infer<typeof WireMention>;

/** Channels, people and roles that the message's menus offer. */
const Resolved = z.object({
  users: field(z.record(z.string(), WireUser)),
  roles: field(z.record(z.string(), Named)),
  channels: field(z.record(z.string(), Named)),
});

/** The content of a message; a forwarded message carries a copy of it. */
const content = {
  content: text,
  attachments: validItems(WireAttachment),
  embeds: validItems(WireEmbed),
  /**
   * The components are parsed one by one where they are shown, because each type has its own
   * format.
   */
  components: z.array(z.unknown()).catch([]),
  sticker_items: validItems(WireSticker),
  /** The same stickers in the format used before 2021. */
  stickers: validItems(WireSticker),
  poll: field(WirePoll),
  flags: kindNumber,
  mentions: validItems(WireMention),
  mention_channels: validItems(z.object({ id: Snowflake, name: z.string() })),
  resolved: field(Resolved),
  /** An invitation to a game or a shared listening session. */
  activity: field(z.object({ type: kindNumber })),
  application: field(z.object({ name: field(z.string()) })),
  shared_client_theme: field(z.object({})),
};

/** Names for the parts of a message that are malformed and cannot be read. */
const PARTS = {
  content: 'a text',
  attachments: 'a file',
  embeds: 'an embed',
  components: 'a part of the message',
  sticker_items: 'a sticker',
  poll: 'a poll',
  message_snapshots: 'a forwarded message',
  activity: 'an invitation',
} as const;

/** The names of parts that could not be parsed. */
function lostParts(sent: unknown, read: object): string[] {
  if (typeof sent !== 'object' || sent === null) return [];
  return Object.entries(PARTS).flatMap(([name, what]) => {
    const before: unknown = Reflect.get(sent, name) ?? undefined;
    const after: unknown = Reflect.get(read, name);
    if (before === undefined || before === after) return [];
    const isRead = Array.isArray(after)
      ? Array.isArray(before) && before.length === after.length
      : typeof after === 'object' && typeof before === typeof after;
    return isRead ? [] : [what];
  });
}

function referenceOf(sent: unknown): unknown {
  return typeof sent === 'object' && sent !== null
    ? Reflect.get(sent, 'referenced_message')
    : undefined;
}

/**
 * A wire object with the content of a message. A malformed field is dropped without affecting the
 * rest of the message; `lost` lists the dropped content.
 */
function withContent<Shape extends z.ZodRawShape>(shape: Shape) {
  const fields = z.object({ ...content, ...shape });
  return z.unknown().transform((sent, context) => {
    const read = fields.safeParse(withoutNulls(sent));
    if (read.success) {
      // Null if the message was deleted; absent if Discord did not look it up.
      const isAnsweredGone = referenceOf(sent) === null;
      return { ...read.data, lost: lostParts(sent, read.data), isAnsweredGone };
    }
    context.addIssue({ code: 'custom', message: read.error.message });
    return z.NEVER;
  });
}

const WireContent = withContent({});
export type WireContent = z.infer<typeof WireContent>;

const snapshots = { message_snapshots: validItems(z.object({ message: WireContent })) };

const WireReference = z.object({
  type: kindNumber,
  message_id: field(Snowflake),
  channel_id: field(Snowflake),
  guild_id: field(Snowflake),
});

/** The message that another one replies to. */
const WireAnswered = withContent({
  ...snapshots,
  id: field(Snowflake),
  type: kindNumber,
  author: WireUser,
  webhook_id: field(Snowflake),
  message_reference: field(WireReference),
});
export type WireAnswered = z.infer<typeof WireAnswered>;

/**
 * The fields of a message that Parley reads from the gateway and from REST; only the gateway
 * includes the server.
 */
export const WireMessage = withContent({
  ...snapshots,
  id: Snowflake,
  channel_id: Snowflake,
  guild_id: field(Snowflake),
  type: kindNumber,
  author: WireUser,
  member: field(WireMember),
  timestamp: text,
  edited_timestamp: field(z.string()),
  webhook_id: field(Snowflake),
  mention_roles: validItems(Snowflake),
  message_reference: field(WireReference),
  referenced_message: field(WireAnswered),
});
export type WireMessage = z.infer<typeof WireMessage>;

/** The minimum that identifies a message. */
export const WireMessageIds = z.object({ id: Snowflake, channel_id: Snowflake });
