import type {
  APIMessageSnapshot,
  APIPoll,
  APIStickerItem,
  GatewayMessageCreateDispatchData,
} from 'discord-api-types/v10';
import { z } from 'zod';
import type { WireAttachment, WireMessage } from './wire.ts';
import type { World } from './world.ts';

/** The content of a message from a person or another bot, besides text and files. */
export const MessageContentInput = z.strictObject({
  embeds: z.array(z.record(z.string(), z.unknown())).readonly().optional(),
  /** Rows of buttons, or components v2. */
  components: z.array(z.record(z.string(), z.unknown())).readonly().optional(),
  poll: z
    .strictObject({
      question: z.string(),
      answers: z.array(z.string()).min(1).max(10).readonly(),
      several: z.boolean().optional(),
      /** Vote counts in the order of the answers; sent with the poll only if given. */
      votes: z.array(z.int()).readonly().optional(),
      closed: z.boolean().optional(),
    })
    .optional(),
  /** Sticker formats: 1 PNG, 2 APNG, 3 Lottie, 4 GIF. */
  stickers: z
    .array(z.strictObject({ name: z.string(), format: z.int().default(1) }))
    .max(3)
    .readonly()
    .optional(),
  /** Forwards a message of the double, or a message that the bot has never seen. */
  forward: z
    .union([
      z.strictObject({ channel: z.string(), message: z.string() }),
      z.strictObject({ text: z.string() }),
    ])
    .optional(),
  /** Activity types: 1 join, 2 watch, 3 listen, 5 request to join. */
  invitation: z.strictObject({ type: z.int().default(1), game: z.string().optional() }).optional(),
  /** The colors of the theme that a person shares. */
  theme: z.array(z.string()).readonly().optional(),
  /** Makes the file a voice message of this duration. */
  voiceSeconds: z.number().positive().optional(),
  /** The message type, for example 6 for a pinned message or 7 for a new member. */
  type: z.int().optional(),
  /** Further message fields, sent unchanged. */
  fields: z.record(z.string(), z.unknown()).optional(),
});
export type MessageContentInput = z.input<typeof MessageContentInput>;

const IS_VOICE = 1 << 13;
const HAS_SNAPSHOT = 1 << 14;
const IS_COMPONENTS_V2 = 1 << 15;
/** Component types that may appear in rows before components v2. */
const OLD_COMPONENTS: ReadonlySet<unknown> = new Set([1, 2, 3, 5, 6, 7, 8]);

/** Converts the content to API fields. */
export function buildMessageFields(world: World, parts: MessageContentInput): Partial<WireMessage> {
  const { poll, stickers, forward, invitation, theme, fields, type } = parts;
  const { activity, application } = buildInvitation(invitation);
  return {
    ...(type === undefined ? {} : { type }),
    ...(poll && { poll: buildPoll(world, poll) }),
    ...(stickers && { sticker_items: stickers.map((one) => buildSticker(world, one)) }),
    ...(forward && buildForward(world, forward)),
    ...(activity && { activity, application }),
    ...(theme && { shared_client_theme: { colors: [...theme], gradient_angle: 0, base_mix: 50 } }),
    flags: computeFlags(parts),
    ...fields,
  };
}

function computeFlags({ components = [], forward, voiceSeconds }: MessageContentInput): number {
  const isV2 = components.some(({ type }) => !OLD_COMPONENTS.has(type));
  return (
    (isV2 ? IS_COMPONENTS_V2 : 0) |
    (forward === undefined ? 0 : HAS_SNAPSHOT) |
    (voiceSeconds === undefined ? 0 : IS_VOICE)
  );
}

const DAY_MS = 24 * 60 * 60 * 1000;

function buildPoll(world: World, poll: NonNullable<MessageContentInput['poll']>): APIPoll {
  const { question, answers, several = false, votes, closed = false } = poll;
  const counts = (votes ?? []).map((count, at) => ({ id: at + 1, count, me_voted: false }));
  return {
    question: { text: question },
    answers: answers.map((text, at) => ({ answer_id: at + 1, poll_media: { text } })),
    expiry: new Date(world.clock() + DAY_MS).toISOString(),
    allow_multiselect: several,
    layout_type: 1,
    ...(votes && { results: { is_finalized: closed, answer_counts: counts } }),
  };
}

function buildSticker(
  world: World,
  { name, format = 1 }: NonNullable<MessageContentInput['stickers']>[number],
): APIStickerItem {
  return { id: world.ids.next(), name, format_type: format };
}

type ForwardFields = Pick<WireMessage, 'message_reference' | 'message_snapshots'>;

/** A forwarded copy, as Discord sends it: without the author, but with the source channel. */
function buildForward(
  world: World,
  forward: NonNullable<MessageContentInput['forward']>,
): ForwardFields {
  if ('text' in forward) {
    const origin = { channel_id: world.ids.next(), message_id: world.ids.next() };
    return {
      message_reference: { type: 1, ...origin },
      message_snapshots: [{ message: { ...EMPTY, content: forward.text } }],
    };
  }
  const channel = world.channel(forward.channel);
  const message = world.message(channel, forward.message);
  const { guildId } = channel;
  return {
    message_reference: {
      type: 1,
      channel_id: channel.id,
      message_id: message.id,
      ...(guildId === undefined ? {} : { guild_id: guildId }),
    },
    message_snapshots: [{ message: toSnapshot(message) }],
  };
}

const EMPTY: WireSnapshot = {
  type: 0,
  content: '',
  timestamp: '2026-01-01T00:00:00.000Z',
  edited_timestamp: null,
  mentions: [],
  mention_roles: [],
  attachments: [],
  embeds: [],
  components: [],
  flags: 0,
};

/** The stored fields of a message that a forwarded copy keeps. */
type WireSnapshot = Pick<
  WireMessage,
  Extract<keyof APIMessageSnapshot['message'], keyof WireMessage>
>;

function toSnapshot(message: WireMessage): WireSnapshot {
  const { type, content, timestamp, edited_timestamp, mentions, mention_roles } = message;
  const { attachments, embeds, components, flags, sticker_items } = message;
  return {
    ...{ type, content, timestamp, edited_timestamp, mentions, mention_roles },
    ...{ attachments, embeds, components, flags },
    ...(sticker_items && { sticker_items }),
  };
}

type InvitationFields = Pick<GatewayMessageCreateDispatchData, 'activity' | 'application'>;

function buildInvitation(invitation: MessageContentInput['invitation']): InvitationFields {
  if (invitation === undefined) return {};
  const { type = 1, game } = invitation;
  return {
    activity: { type, party_id: 'party' },
    ...(game !== undefined && { application: { id: '1', name: game } }),
  };
}

/** Turns a file into a voice message with a duration and a waveform. */
export function toVoiceFile(file: WireAttachment, seconds: number): WireAttachment {
  return { ...file, duration_secs: seconds, waveform: Buffer.alloc(32, 96).toString('base64') };
}
