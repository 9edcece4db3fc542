import { z } from 'zod';
import { lenient, lenientList } from './lenient.ts';
import { Entities, Media, mediaFields, Text, User, WireChat } from './wire-basics.ts';

export const Point = z.object({
  latitude: z.number(),
  longitude: z.number(),
  /** How long a live location is updated, in seconds. */
  live_period: lenient(z.number()),
  /** An angle in degrees. */
  heading: lenient(z.number()),
  /** A distance in meters. */
  proximity_alert_radius: lenient(z.number()),
});
export type Point = z.infer<typeof Point>;
const Venue = z.object({ title: z.string(), address: z.string().catch(''), location: Point });
export type Venue = z.infer<typeof Venue>;

const PollMedia = z.object({
  ...mediaFields,
  link: lenient(z.object({ url: z.string() })),
  location: lenient(Point),
  venue: lenient(Venue),
});
export type PollMedia = z.infer<typeof PollMedia>;
const Poll = z.object({
  question: z.string(),
  options: lenientList(
    z.object({
      text: z.string(),
      text_entities: Entities,
      persistent_id: Text,
      voter_count: lenient(z.int()),
      media: lenient(PollMedia),
    }),
  ),
  type: Text,
  is_closed: lenient(z.boolean()),
  allows_multiple_answers: lenient(z.boolean()),
  correct_option_ids: lenientList(z.int()),
  /** Servers before Bot API 10 sent a single id. */
  correct_option_id: lenient(z.int()),
  explanation: Text,
  explanation_entities: Entities,
  explanation_media: lenient(PollMedia),
  description: Text,
  description_entities: Entities,
  media: lenient(PollMedia),
});
export type Poll = z.infer<typeof Poll>;

const Task = z.object({
  id: lenient(z.int()),
  text: z.string(),
  text_entities: Entities,
  completed_by_user: lenient(User),
  completed_by_chat: lenient(WireChat),
  completion_date: lenient(z.number()),
});
const Checklist = z.object({
  title: z.string().catch(''),
  title_entities: Entities,
  tasks: lenientList(Task),
});
export type Checklist = z.infer<typeof Checklist>;

const Contact = z.object({
  phone_number: z.string().catch(''),
  first_name: z.string().catch(''),
  last_name: Text,
  user_id: lenient(z.int()),
  vcard: Text,
});
export type Contact = z.infer<typeof Contact>;

const Giveaway = z.object({
  chats: lenientList(WireChat),
  /** A Unix time in seconds. */
  winners_selection_date: lenient(z.number()),
  winner_count: lenient(z.int()),
  prize_description: Text,
  prize_star_count: lenient(z.int()),
  premium_subscription_month_count: lenient(z.int()),
});
export type Giveaway = z.infer<typeof Giveaway>;

const Winners = z.object({
  winner_count: lenient(z.int()),
  winners: lenientList(User),
  prize_description: Text,
});
export type Winners = z.infer<typeof Winners>;

const Gift = z.object({ text: Text, entities: Entities });
const Game = z.object({ title: Text, description: Text, text: Text, text_entities: Entities });
const Invoice = z.object({
  title: Text,
  description: Text,
  currency: Text,
  /** In the smallest unit of the currency. */
  total_amount: lenient(z.int()),
});
export type Invoice = z.infer<typeof Invoice>;
const PaidMedia = z.object({
  star_count: lenient(z.int()),
  /** Files are present only if the media were paid for or sent by this account. */
  paid_media: lenientList(Media),
});
export const Story = z.object({ chat: lenient(WireChat) });
export type Story = z.infer<typeof Story>;

const SharedPerson = z.object({
  user_id: lenient(z.int()),
  first_name: Text,
  last_name: Text,
  username: Text,
});

/**
 * The content of a message besides text and files that can also occur in messages replied to or
 * quoted.
 */
export const cardFields = {
  poll: lenient(Poll),
  checklist: lenient(Checklist),
  location: lenient(Point),
  venue: lenient(Venue),
  contact: lenient(Contact),
  dice: lenient(z.object({ emoji: z.string(), value: z.int() })),
  giveaway: lenient(Giveaway),
  giveaway_winners: lenient(Winners),
  game: lenient(Game),
  invoice: lenient(Invoice),
  story: lenient(Story),
  paid_media: lenient(PaidMedia),
};

/** Content that cannot occur in messages replied to or quoted. */
export const ownCardFields = {
  gift: lenient(Gift),
  unique_gift: lenient(Gift),
  web_app_data: lenient(z.object({ data: z.string(), button_text: Text })),
  users_shared: lenient(
    z.object({ users: lenientList(SharedPerson), user_ids: lenientList(z.int()) }),
  ),
  /** Servers before Bot API 7 shared one person at a time. */
  user_shared: lenient(z.object({ user_id: z.int() })),
  chat_shared: lenient(z.object({ chat_id: z.int(), title: Text, username: Text })),
  suggested_post_info: lenient(
    z.object({
      state: Text,
      price: lenient(z.object({ currency: z.string(), amount: z.number() })),
      send_date: lenient(z.number()),
    }),
  ),
  suggested_post_declined: lenient(z.object({ comment: Text })),
  link_preview_options: lenient(z.object({ url: Text, is_disabled: lenient(z.boolean()) })),
  reply_markup: lenient(
    z.object({
      inline_keyboard: lenientList(
        lenientList(
          z.object({
            text: z.string(),
            url: Text,
            web_app: lenient(z.object({ url: Text })),
            copy_text: lenient(z.object({ text: Text })),
          }),
        ),
      ),
    }),
  ),
};
