import { bareAddress, isoFromSeconds, personLink, spellOutHidden } from './text.ts';
import { vcardDetails } from './vcard.ts';
import type { WireMessage } from './wire.ts';
import type { Media } from './wire-basics.ts';
import type {
  Contact,
  Giveaway,
  Invoice,
  Point,
  Poll,
  PollMedia,
  Venue,
  Winners,
} from './wire-cards.ts';

/**
 * The cards of any message, including a quoted one or one being replied to; those have fewer
 * fields.
 */
export type Cards = Partial<
  Pick<
    WireMessage,
    | 'poll'
    | 'location'
    | 'venue'
    | 'contact'
    | 'dice'
    | 'giveaway'
    | 'giveaway_winners'
    | 'game'
    | 'invoice'
    | 'gift'
    | 'unique_gift'
    | 'web_app_data'
    | 'users_shared'
    | 'user_shared'
    | 'chat_shared'
    | 'suggested_post_info'
    | 'suggested_post_declined'
    | 'reply_markup'
    | 'link_preview_options'
    | 'text'
    | 'entities'
  >
>;

/**
 * The content of a message besides its text and files, each item rendered as text. The sender
 * expects an answer, and a message without text would not start a turn.
 */
export function cardsOf(message: Cards): readonly string[] {
  const { venue, location, contact, poll, dice, giveaway, giveaway_winners: winners } = message;
  // Telegram sends a venue with a location as well.
  const place = venue ? venueText(venue) : location && locationText(location);
  return [
    place,
    contact && contactText(contact),
    poll && pollText(poll),
    dice && `[${dice.emoji} shows ${dice.value}]`,
    giveaway && giveawayText(giveaway),
    winners && winnersText(winners),
    ...soldTexts(message),
    ...sharedTexts(message),
    ...postTexts(message),
    buttonsText(message.reply_markup),
    renderPreview(message),
  ].filter((card) => card !== undefined && card !== '') as string[];
}

function venueText({ title, address, location }: Venue): string {
  return `[Place: ${[title, address].filter(Boolean).join(', ')} (${coordinatesText(location)})]`;
}

/** Telegram's value for a location that is shared until its sender stops it. */
const WITHOUT_END = 0x7fffffff;

/** A location, with the details of a live one. */
export function locationText(point: Point): string {
  const { live_period: seconds, heading, proximity_alert_radius: radius } = point;
  const details = [
    seconds === WITHOUT_END && 'live',
    seconds !== undefined && seconds < WITHOUT_END && `live for ${Math.round(seconds / 60)} min`,
    heading !== undefined && `heading ${heading}°`,
    radius !== undefined && `alert within ${radius} m`,
  ].filter((detail) => detail !== false);
  return `[Location: ${[coordinatesText(point), ...details].join(', ')}]`;
}

function coordinatesText({ latitude, longitude }: Point): string {
  return `${latitude}, ${longitude}`;
}

function contactText({ phone_number, first_name, last_name, user_id, vcard }: Contact): string {
  const details = [
    fullName({ first_name, last_name }),
    phone_number,
    user_id === undefined ? '' : personLink(user_id),
    ...(vcard === undefined ? [] : vcardDetails(vcard, [phone_number])),
  ];
  return `[Contact: ${details.filter(Boolean).join(', ')}]`;
}

function fullName(person: {
  readonly first_name?: string | undefined;
  readonly last_name?: string | undefined;
}): string {
  return [person.first_name, person.last_name].filter(Boolean).join(' ');
}

function pollText(poll: Poll): string {
  const { question, options, type, is_closed, allows_multiple_answers, explanation, description } =
    poll;
  const right = new Set([...poll.correct_option_ids, poll.correct_option_id]);
  const hasVotes = is_closed === true || options.some(({ voter_count = 0 }) => voter_count > 0);
  const shown = options.map(({ text, text_entities: entities, voter_count, media }, index) => {
    const details = [
      right.has(index) && 'right',
      hasVotes && voter_count !== undefined && `votes: ${voter_count}`,
      media && mediaText(media),
    ].filter(Boolean);
    const words = spellOutHidden({ text, entities });
    return details.length === 0 ? words : `${words} (${details.join(', ')})`;
  });
  const more = [
    allows_multiple_answers === true && 'several answers may be chosen',
    is_closed === true && 'closed',
    description !== undefined &&
      `description: ${spellOutHidden({ text: description, entities: poll.description_entities })}`,
    poll.media && mediaText(poll.media),
    explanation !== undefined &&
      `explanation: ${spellOutHidden({ text: explanation, entities: poll.explanation_entities })}`,
    poll.explanation_media && mediaText(poll.explanation_media),
  ].filter(Boolean);
  const kind = type === 'quiz' ? 'Quiz' : 'Poll';
  const end = more.length === 0 ? '' : `; ${more.join('; ')}`;
  return `[${kind}: ${question} ${shown.join(' / ')}${end}]`;
}

/** The media in a poll that are not files; files are listed among the message's attachments. */
function mediaText({ link, location, venue }: PollMedia): string {
  if (link) return link.url;
  if (venue) return venueText(venue);
  return location ? locationText(location) : '';
}

/** The files in a poll. */
export function pollMedia({ media, explanation_media, options }: Poll): readonly Media[] {
  const all = [media, explanation_media, ...options.map((option) => option.media)];
  return all.filter((one) => one !== undefined);
}

/** The poll option that a message replies to, shown before the poll itself. */
export function optionText({ options }: Poll, id: string): string {
  const option = options.find(({ persistent_id }) => persistent_id === id);
  return option === undefined ? '' : `[Option: ${option.text}]`;
}

function giveawayText(giveaway: Giveaway): string {
  const {
    prize_description,
    prize_star_count,
    premium_subscription_month_count: months,
  } = giveaway;
  const date = isoFromSeconds(giveaway.winners_selection_date);
  const chats = giveaway.chats.map(({ title }) => title).filter(Boolean);
  const details = [
    prize_description,
    prize_star_count !== undefined && `${prize_star_count} stars`,
    months !== undefined && `Telegram Premium for ${months} months`,
    giveaway.winner_count !== undefined && `winners: ${giveaway.winner_count}`,
    date !== undefined && `drawn at ${date}`,
    chats.length > 0 && `for members of ${chats.join(', ')}`,
  ].filter(Boolean);
  return `[Giveaway: ${details.join('; ')}]`;
}

function winnersText({ winners, winner_count, prize_description }: Winners): string {
  const names = winners.map(fullName).filter(Boolean).join(', ');
  const count = winner_count === undefined ? '' : `winners: ${winner_count}`;
  return `[Giveaway is over: ${[prize_description, count, names].filter(Boolean).join('; ')}]`;
}

/**
 * The text of games, invoices and gifts. A separate note states that the content cannot be read.
 */
function soldTexts({ game, invoice, gift, unique_gift }: Cards): readonly string[] {
  const given = [gift, unique_gift].flatMap((one) => {
    return one?.text ? [`[Words of a gift: ${spellOutHidden({ ...one, text: one.text })}]`] : [];
  });
  const rules = game?.text && spellOutHidden({ text: game.text, entities: game.text_entities });
  const played = game && [game.title, game.description, rules].filter(Boolean).join(': ');
  return [played ? `[Game: ${played}]` : '', invoice ? invoiceText(invoice) : '', ...given];
}

function invoiceText({ title, description, currency, total_amount }: Invoice): string {
  const price =
    total_amount === undefined || currency === undefined
      ? ''
      : `${total_amount} in the smallest unit of ${currency}`;
  const details = [title, description, price].filter(Boolean).join('; ');
  return details === '' ? '' : `[Invoice: ${details}]`;
}

/** The data that a person shared with the bot through a button that requests it. */
function sharedTexts(message: Cards): readonly string[] {
  const { web_app_data: data, users_shared, user_shared, chat_shared } = message;
  const people = users_shared?.users.map((person) => {
    const { username, user_id } = person;
    const about = [
      username !== undefined && `@${username}`,
      user_id !== undefined && personLink(user_id),
    ].filter((one) => one !== false);
    const name = fullName(person);
    return name === '' ? about.join(', ') : [name, ...about].join(', ');
  });
  const old = user_shared === undefined ? [] : [user_shared.user_id];
  const ids = [...(users_shared?.user_ids ?? []), ...old].map(personLink);
  const shared = [...(people ?? []), ...ids].filter(Boolean).join('; ');
  const { title, username, chat_id } = chat_shared ?? {};
  const named = [title, username === undefined ? '' : `@${username}`, chat_id].filter(Boolean);
  return [
    data ? `[Data of the web app "${data.button_text ?? ''}": ${data.data}]` : '',
    shared === '' ? '' : `[People: ${shared}]`,
    chat_shared ? `[Chat: ${named.join(', ')}]` : '',
  ];
}

/** A post that a subscriber suggests to a channel, or the reason why one was declined. */
function postTexts({ suggested_post_info: post, suggested_post_declined: declined }: Cards) {
  const comment = declined?.comment;
  const date = isoFromSeconds(post?.send_date);
  const details = [
    post?.state,
    post?.price && `price: ${post.price.amount} ${post.price.currency}`,
    date !== undefined && `to be published at ${date}`,
  ].filter(Boolean);
  return [
    post ? `[Suggested post: ${details.join(', ')}]` : '',
    comment ? `[Suggested post declined: ${comment}]` : '',
  ];
}

/** The buttons of a message that was sent through another bot, as text. */
function buttonsText(markup: Cards['reply_markup']): string {
  const buttons = (markup?.inline_keyboard.flat() ?? []).map(
    ({ text, url, web_app, copy_text }) => {
      const behind = url ?? web_app?.url ?? copy_text?.text;
      return behind === undefined ? text : `${text} (${behind})`;
    },
  );
  return buttons.length === 0 ? '' : `[Buttons: ${buttons.join(' / ')}]`;
}

/** A message can have a page below it that its text does not mention. */
function renderPreview({ link_preview_options: preview, text = '', entities = [] }: Cards): string {
  const { url, is_disabled } = preview ?? {};
  if (url === undefined || is_disabled === true) return '';
  if (spellOutHidden({ text, entities }).includes(bareAddress(url))) return '';
  return `[Page shown below: ${url}]`;
}
