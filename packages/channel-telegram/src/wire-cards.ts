import { z } from 'zod';
import { toLenientField, toLenientList } from './lenient.ts';
import { Entities, MessageMedia, mediaFields, Text, User, WireChat } from './wire-basics.ts';

export const GeoPoint = z.object({
  latitude: z.number(),
  longitude: z.number(),
  /** How long a live location is updated, in seconds. */
  live_period: toLenientField(z.number()),
  /** An angle in degrees. */
  heading: toLenientField(z.number()),
  /** A distance in meters. */
  proximity_alert_radius: toLenientField(z.number()),
});
export type GeoPoint = z.infer<typeof GeoPoint>;
const Venue = z.object({ title: z.string(), address: z.string().catch(''), location: GeoPoint });
export type Venue = z.infer<typeof Venue>;

const PollMedia = z.object({
  ...mediaFields,
  link: toLenientField(z.object({ url: z.string() })),
  location: toLenientField(GeoPoint),
  venue: toLenientField(Venue),
});
export type PollMedia = z.infer<typeof PollMedia>;
const Poll = z.object({
  question: z.string(),
  options: toLenientList(
    z.object({
      text: z.string(),
      text_entities: Entities,
      persistent_id: Text,
      voter_count: toLenientField(z.int()),
      media: toLenientField(PollMedia),
    }),
  ),
  type: Text,
  is_closed: toLenientField(z.boolean()),
  allows_multiple_answers: toLenientField(z.boolean()),
  correct_option_ids: toLenientList(z.int()),
  /** Servers before Bot API 10 sent a single id. */
  correct_option_id: toLenientField(z.int()),
  explanation: Text,
  explanation_entities: Entities,
  explanation_media: toLenientField(PollMedia),
  description: Text,
  description_entities: Entities,
  media: toLenientField(PollMedia),
});
export type Poll = z.infer<typeof Poll>;

const Task = z.object({
  id: toLenientField(z.int()),
  text: z.string(),
  text_entities: Entities,
  completed_by_user: toLenientField(User),
  completed_by_chat: toLenientField(WireChat),
  completion_date: toLenientField(z.number()),
});
const Checklist = z.object({
  title: z.string().catch(''),
  title_entities: Entities,
  tasks: toLenientList(Task),
});
export type Checklist = z.infer<typeof Checklist>;

const Contact = z.object({
  phone_number: z.string().catch(''),
  first_name: z.string().catch(''),
  last_name: Text,
  user_id: toLenientField(z.int()),
  vcard: Text,
});
export type SharedContact = z.infer<typeof Contact>;

const Giveaway = z.object({
  chats: toLenientList(WireChat),
  /** A Unix time in seconds. */
  winners_selection_date: toLenientField(z.number()),
  winner_count: toLenientField(z.int()),
  prize_description: Text,
  prize_star_count: toLenientField(z.int()),
  premium_subscription_month_count: toLenientField(z.int()),
});
export type Giveaway = z.infer<typeof Giveaway>;

const Winners = z.object({
  winner_count: toLenientField(z.int()),
  winners: toLenientList(User),
  prize_description: Text,
});
export type GiveawayWinners = z.infer<typeof Winners>;

const Gift = z.object({ text: Text, entities: Entities });
const Game = z.object({ title: Text, description: Text, text: Text, text_entities: Entities });
const Invoice = z.object({
  title: Text,
  description: Text,
  currency: Text,
  /** In the smallest unit of the currency. */
  total_amount: toLenientField(z.int()),
});
export type Invoice = z.infer<typeof Invoice>;
const PaidMedia = z.object({
  star_count: toLenientField(z.int()),
  /** Files are present only if the media were paid for or sent by this account. */
  paid_media: toLenientList(MessageMedia),
});
export const Story = z.object({ chat: toLenientField(WireChat) });
export type Story = z.infer<typeof Story>;

const SharedPerson = z.object({
  user_id: toLenientField(z.int()),
  first_name: Text,
  last_name: Text,
  username: Text,
});

/**
 * The content of a message besides text and files that can also occur in messages replied to or
 * quoted.
 */
export const cardFields = {
  poll: toLenientField(Poll),
  checklist: toLenientField(Checklist),
  location: toLenientField(GeoPoint),
  venue: toLenientField(Venue),
  contact: toLenientField(Contact),
  dice: toLenientField(z.object({ emoji: z.string(), value: z.int() })),
  giveaway: toLenientField(Giveaway),
  giveaway_winners: toLenientField(Winners),
  game: toLenientField(Game),
  invoice: toLenientField(Invoice),
  story: toLenientField(Story),
  paid_media: toLenientField(PaidMedia),
};

/** Content that cannot occur in messages replied to or quoted. */
export const ownCardFields = {
  gift: toLenientField(Gift),
  unique_gift: toLenientField(Gift),
  web_app_data: toLenientField(z.object({ data: z.string(), button_text: Text })),
  users_shared: toLenientField(
    z.object({ users: toLenientList(SharedPerson), user_ids: toLenientList(z.int()) }),
  ),
  /** Servers before Bot API 7 shared one person at a time. */
  user_shared: toLenientField(z.object({ user_id: z.int() })),
  chat_shared: toLenientField(z.object({ chat_id: z.int(), title: Text, username: Text })),
  suggested_post_info: toLenientField(
    z.object({
      state: Text,
      price: toLenientField(z.object({ currency: z.string(), amount: z.number() })),
      send_date: toLenientField(z.number()),
    }),
  ),
  suggested_post_declined: toLenientField(z.object({ comment: Text })),
  link_preview_options: toLenientField(
    z.object({ url: Text, is_disabled: toLenientField(z.boolean()) }),
  ),
  reply_markup: toLenientField(
    z.object({
      inline_keyboard: toLenientList(
        toLenientList(
          z.object({
            text: z.string(),
            url: Text,
            web_app: toLenientField(z.object({ url: Text })),
            copy_text: toLenientField(z.object({ text: Text })),
          }),
        ),
      ),
    }),
  ),
};
