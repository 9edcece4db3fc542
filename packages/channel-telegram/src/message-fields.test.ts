import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type {
  Chat,
  Checklist,
  ChecklistTask,
  Contact,
  ExternalReplyInfo,
  Game,
  GiftInfo,
  Giveaway,
  Location,
  Message,
  MessageEntity,
  MessageOrigin,
  Poll,
  PollMedia,
  PollOption,
  RichBlock,
  RichText,
  SuggestedPostInfo,
  TextQuote,
  Update,
  Venue,
} from '@grammyjs/types';
import { describe, expect, it } from 'vitest';
import { findEventReason, MESSAGE_FIELDS, UPDATE_DECISIONS } from './message-fields.ts';
import { UPDATE_KINDS } from './wire.ts';

/** Fields sent by servers from before 2023, which the latest types no longer have. */
type Old =
  | 'forward_date'
  | 'forward_from'
  | 'forward_from_chat'
  | 'forward_from_message_id'
  | 'forward_sender_name'
  | 'forward_signature'
  | 'user_shared';

type Difference<A, B> = Exclude<A, B> | Exclude<B, A>;
/**
 * This type check fails when the published types gain a field or a kind without a decision here.
 */
const isDecided: Readonly<
  Record<
    | Difference<keyof Message | Old, keyof typeof MESSAGE_FIELDS>
    | Difference<Exclude<keyof Update, 'update_id'>, keyof typeof UPDATE_DECISIONS>,
    never
  >
> = {};

type AllKeys<T> = T extends unknown ? keyof T : never;
/** For each detail: `read`, or the reason why no reader needs it. */
type Details<Key extends PropertyKey> = Readonly<Record<Key, string>>;

const FORMAT = 'a format changes no words';
const SHOWN = 'it says how something is shown';
const RULE = 'a rule for those who take part';

/** The parts of messages that contain text written by people, and how each detail is handled. */
const DETAILS = {
  entities: {
    ...{ text_link: 'read', text_mention: 'read', date_time: 'read', mention: 'read' },
    ...{ bot_command: 'read', blockquote: 'read', expandable_blockquote: 'read' },
    ...{ hashtag: FORMAT, cashtag: FORMAT, url: FORMAT, email: FORMAT, phone_number: FORMAT },
    ...{ bold: FORMAT, italic: FORMAT, underline: FORMAT, strikethrough: FORMAT },
    ...{ spoiler: FORMAT, code: FORMAT, pre: FORMAT },
    custom_emoji: 'its words are the emoji that it stands for',
  } satisfies Details<MessageEntity['type']>,
  external_reply: {
    ...{ origin: 'read', chat: 'read', animation: 'read', audio: 'read', document: 'read' },
    ...{ live_photo: 'read', photo: 'read', sticker: 'read', story: 'read', video: 'read' },
    ...{ video_note: 'read', voice: 'read', contact: 'read', dice: 'read', game: 'read' },
    ...{ giveaway: 'read', giveaway_winners: 'read', invoice: 'read', location: 'read' },
    ...{ paid_media: 'read', poll: 'read', checklist: 'read', venue: 'read' },
    link_preview_options: 'read',
    message_id: 'a message of another chat cannot be answered',
    has_media_spoiler: SHOWN,
  } satisfies Details<keyof ExternalReplyInfo>,
  quote: {
    ...{ text: 'read', entities: 'read' },
    ...{ position: 'where the words stood', is_manual: 'who chose the words' },
  } satisfies Details<keyof TextQuote>,
  origin: {
    ...{ sender_user: 'read', sender_user_name: 'read', sender_chat: 'read', chat: 'read' },
    author_signature: 'read',
    ...{ type: 'its fields say it', date: 'when it was written elsewhere' },
    message_id: 'a message of another chat cannot be answered',
  } satisfies Details<AllKeys<MessageOrigin>>,
  poll: {
    ...{ question: 'read', options: 'read', is_closed: 'read', type: 'read' },
    ...{ allows_multiple_answers: 'read', correct_option_ids: 'read', explanation: 'read' },
    ...{ explanation_entities: 'read', explanation_media: 'read', description: 'read' },
    ...{ description_entities: 'read', media: 'read' },
    question_entities: 'only custom emoji are marked there',
    ...{ id: 'no number for people', total_voter_count: 'the options say it' },
    ...{ is_anonymous: RULE, allows_revoting: RULE, members_only: RULE, country_codes: RULE },
    ...{ open_period: RULE, close_date: RULE },
  } satisfies Details<keyof Poll>,
  option: {
    ...{ text: 'read', text_entities: 'read', media: 'read', voter_count: 'read' },
    persistent_id: 'read',
    ...{ added_by_user: RULE, added_by_chat: RULE, addition_date: RULE },
  } satisfies Details<keyof PollOption>,
  poll_media: {
    ...{ animation: 'read', audio: 'read', document: 'read', link: 'read', live_photo: 'read' },
    ...{ location: 'read', photo: 'read', sticker: 'read', venue: 'read', video: 'read' },
  } satisfies Details<keyof PollMedia>,
  checklist: {
    ...{ title: 'read', title_entities: 'read', tasks: 'read' },
    ...{ others_can_add_tasks: RULE, others_can_mark_tasks_as_done: RULE },
  } satisfies Details<keyof Checklist>,
  task: {
    ...{ id: 'read', text: 'read', text_entities: 'read', completed_by_user: 'read' },
    ...{ completed_by_chat: 'read', completion_date: 'read' },
  } satisfies Details<keyof ChecklistTask>,
  contact: {
    ...{ phone_number: 'read', first_name: 'read', last_name: 'read', user_id: 'read' },
    vcard: 'read',
  } satisfies Details<keyof Contact>,
  location: {
    ...{ latitude: 'read', longitude: 'read', live_period: 'read', heading: 'read' },
    proximity_alert_radius: 'read',
    horizontal_accuracy: 'the accuracy of the phone, in meters',
  } satisfies Details<keyof Location>,
  venue: {
    ...{ location: 'read', title: 'read', address: 'read' },
    ...{ foursquare_id: 'no name for people', foursquare_type: 'no name for people' },
    ...{ google_place_id: 'no name for people', google_place_type: 'no name for people' },
  } satisfies Details<keyof Venue>,
  giveaway: {
    ...{ chats: 'read', winners_selection_date: 'read', winner_count: 'read' },
    ...{ prize_description: 'read', prize_star_count: 'read' },
    premium_subscription_month_count: 'read',
    ...{ only_new_members: RULE, has_public_winners: RULE, country_codes: RULE },
  } satisfies Details<keyof Giveaway>,
  gift: {
    ...{ text: 'read', entities: 'read' },
    ...{ gift: 'it is named as a gift', owned_gift_id: 'no number for people', is_private: SHOWN },
    ...{ convert_star_count: RULE, prepaid_upgrade_star_count: RULE, can_be_upgraded: RULE },
    ...{ is_upgrade_separate: RULE, unique_gift_number: RULE },
  } satisfies Details<keyof GiftInfo>,
  game: {
    ...{ title: 'read', description: 'read', text: 'read', text_entities: 'read' },
    ...{ photo: 'it is named as a game', animation: 'it is named as a game' },
  } satisfies Details<keyof Game>,
  suggested_post: {
    ...{ state: 'read', price: 'read', send_date: 'read' },
  } satisfies Details<keyof SuggestedPostInfo>,
  chat: {
    ...{ id: 'read', type: 'read', title: 'read', first_name: 'read', last_name: 'read' },
    ...{ is_forum: 'read', is_direct_messages: 'read' },
    username: 'a name that may pass to another chat',
  } satisfies Details<AllKeys<Chat>>,
  rich_block: {
    ...{ paragraph: 'read', heading: 'read', pre: 'read', footer: 'read', divider: 'read' },
    ...{ mathematical_expression: 'read', list: 'read', blockquote: 'read', pullquote: 'read' },
    ...{ expandable_blockquote: 'read', collage: 'read', slideshow: 'read', table: 'read' },
    ...{ details: 'read', map: 'read', animation: 'read', audio: 'read', document: 'read' },
    ...{ photo: 'read', video: 'read', voice_note: 'read', buttons: 'read', thinking: 'read' },
    anchor: 'nothing is written there',
  } satisfies Details<RichBlock['type']>,
  rich_text: {
    ...{ url: 'read', text_mention: 'read', date_time: 'read', button: 'read' },
    ...{ custom_emoji: 'read', mathematical_expression: 'read' },
    ...{ email_address: 'read', phone_number: 'read' },
    ...{ bold: FORMAT, italic: FORMAT, underline: FORMAT, strikethrough: FORMAT, spoiler: FORMAT },
    ...{ subscript: FORMAT, superscript: FORMAT, marked: FORMAT, code: FORMAT },
    ...{ bank_card_number: FORMAT, mention: FORMAT, hashtag: FORMAT, cashtag: FORMAT },
    ...{ bot_command: FORMAT, anchor: 'nothing is written there', anchor_link: FORMAT },
    ...{ reference: FORMAT, reference_link: FORMAT },
  } satisfies Details<Extract<RichText, { type: string }>['type']>,
};

const CORPUS = join(import.meta.dirname, '../../../test/corpus/events-telegram');
/** The names of all fields that occur in the corpus, at any depth. */
function fieldsOfCorpus(): ReadonlySet<string> {
  const inputs = readdirSync(CORPUS).filter((file) => !file.endsWith('.expected.json'));
  const texts = inputs.map((file) => readFileSync(join(CORPUS, file), 'utf8'));
  const names = texts.flatMap((text) => [...text.matchAll(/"(\w+)":/g)].map(([, name]) => name));
  return new Set(names.filter((name) => name !== undefined));
}

describe('the handling of data from the Bot API', () => {
  it('[F16] is defined for every field of a message and for every kind of update', () => {
    expect(isDecided).toEqual({});
    const reasons = Object.values(DETAILS).flatMap((details) => Object.values(details));
    expect(reasons.filter((reason) => reason === '')).toEqual([]);
  });

  it('[F16] has a corpus case for everything a person can send and everything that does not start a turn', () => {
    const seen = fieldsOfCorpus();
    const all = Object.entries(MESSAGE_FIELDS);
    const wanted = all.filter(([, one]) => 'named' in one || one.decision === 'event');
    const missing = wanted.map(([field]) => field).filter((field) => !seen.has(field));
    // The migration has its own test, and no server sends `user_shared` anymore.
    const elsewhere = ['migrate_to_chat_id', 'migrate_from_chat_id', 'user_shared'];
    expect(missing.filter((field) => !elsewhere.includes(field))).toEqual([]);
  });

  it('[F16] requests from Telegram exactly the updates that have a reader', () => {
    const all = Object.entries(UPDATE_DECISIONS);
    const read = all.filter(([, { decision }]) => decision === 'read').map(([kind]) => kind);
    expect(read.toSorted()).toEqual([...UPDATE_KINDS].toSorted());
  });

  it('[F07] treats a message as written by the platform only if it has an event field', () => {
    expect(findEventReason({ message_id: 1, text: 'a', pinned_message: {} })).toContain('pinned');
    expect(findEventReason({ message_id: 1, text: 'a', hologram: {} })).toBeUndefined();
  });
});
