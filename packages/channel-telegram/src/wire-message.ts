import { z } from 'zod';

const User = z.object({
  id: z.int(),
  is_bot: z.boolean().default(false),
  first_name: z.string().default(''),
  last_name: z.string().optional(),
  username: z.string().optional(),
});

const WireChat = z.object({
  id: z.int(),
  type: z.enum(['private', 'group', 'supergroup', 'channel']),
  title: z.string().optional(),
});

const Entity = z.object({
  type: z.string(),
  /** UTF-16 units, like `length`. */
  offset: z.int(),
  length: z.int(),
  user: User.optional(),
});
export type Entity = z.infer<typeof Entity>;

const content = {
  message_id: z.int(),
  from: User.optional(),
  sender_chat: WireChat.optional(),
  text: z.string().optional(),
  caption: z.string().optional(),
};

/** What Parley reads of a message; unknown fields stay, so that service messages can be told. */
export const WireMessage = z.looseObject({
  ...content,
  /** Seconds since 1970. */
  date: z.int(),
  chat: WireChat,
  entities: z.array(Entity).default([]),
  caption_entities: z.array(Entity).default([]),
  message_thread_id: z.int().optional(),
  is_topic_message: z.boolean().optional(),
  is_automatic_forward: z.boolean().optional(),
  reply_to_message: z.looseObject(content).optional(),
  quote: z.object({ text: z.string() }).optional(),
});
export type WireMessage = z.infer<typeof WireMessage>;

/** An update of any kind; `message` is checked later, so that a strange one cannot block the rest. */
export const WireUpdate = z.looseObject({ update_id: z.int(), message: z.unknown().optional() });
export type WireUpdate = z.infer<typeof WireUpdate>;

/** The bot itself, as getMe tells. */
export const BotIdentity = z.object({ id: z.int(), username: z.string() });
export type BotIdentity = z.infer<typeof BotIdentity>;
