import { z } from 'zod';
import { toLenientField, toLenientList } from './lenient.ts';

/*
 * The schemas of the data that Parley reads from the Bot API. A field that determines who wrote,
 * where, or in whose name must be valid; otherwise the message is rejected as invalid. Any other
 * invalid field is dropped on its own.
 */

export const Text = toLenientField(z.string());
const Size = toLenientField(z.int().nonnegative());

const file = { file_id: z.string().min(1).max(4_096), file_size: Size };
const described = { ...file, mime_type: Text, file_name: Text };
const Described = z.object(described);

/** One of the available sizes of a picture. Telegram sends several sizes of each picture. */
const PhotoSize = z.object({ ...file, width: z.int().catch(0), height: z.int().catch(0) });
export type PhotoSize = z.infer<typeof PhotoSize>;

/** A file inside a message, as far as Parley reads it. File sizes are in bytes. */
export type DescribedFile = z.infer<typeof Described>;

const Audio = z.object({ ...described, performer: Text, title: Text });

const Sticker = z.object({
  ...file,
  emoji: Text,
  is_animated: z.boolean().catch(false),
  is_video: z.boolean().catch(false),
});
export type Sticker = z.infer<typeof Sticker>;

const Photo = toLenientField(toLenientList(PhotoSize));
/** A picture that moves for a moment; clients that do not support it show the still picture. */
const LivePhoto = z.object({ ...file, mime_type: Text, photo: Photo });

/**
 * The fields of a message that contain a file. A message has at most one, except that an animation
 * also sets `document`.
 */
export const mediaFields = {
  photo: Photo,
  live_photo: toLenientField(LivePhoto),
  document: toLenientField(Described),
  voice: toLenientField(Described),
  audio: toLenientField(Audio),
  video: toLenientField(Described),
  video_note: toLenientField(Described),
  animation: toLenientField(Described),
  sticker: toLenientField(Sticker),
};
export const MessageMedia = z.object(mediaFields);
export type MessageMedia = z.infer<typeof MessageMedia>;

export const User = z.object({
  id: z.int(),
  is_bot: z.boolean().default(false),
  first_name: z.string().catch(''),
  last_name: Text,
  username: Text,
});
export type WireUser = z.infer<typeof User>;

export const WireChat = z.object({
  id: z.int(),
  type: z.enum(['private', 'group', 'supergroup', 'channel']),
  title: Text,
  first_name: Text,
  last_name: Text,
  is_forum: toLenientField(z.boolean()),
  is_direct_messages: z.boolean().optional(),
});
export type WireChat = z.infer<typeof WireChat>;

/**
 * The author of a forwarded or quoted message: a person, a person who hides their account, a group
 * or a channel.
 */
export const MessageOrigin = z.object({
  sender_user: toLenientField(User),
  sender_user_name: Text,
  sender_chat: toLenientField(WireChat),
  chat: toLenientField(WireChat),
  author_signature: Text,
});
export type MessageOrigin = z.infer<typeof MessageOrigin>;

const Entity = z.object({
  type: z.string(),
  /** An offset in UTF-16 units, like `length`. */
  offset: z.int(),
  length: z.int(),
  user: toLenientField(User),
  /** The URL of a `text_link`. */
  url: Text,
  /** The moment of a `date_time`, in seconds since 1970. */
  unix_time: toLenientField(z.number()),
});
export type MessageEntity = z.infer<typeof Entity>;
export const Entities = toLenientList(Entity);
