import { buildPersonLink, formatIsoTime, shortenUrl, spellOutHiddenTargets } from './text.ts';
import { listVcardDetails } from './vcard.ts';
import type { WireMessage } from './wire.ts';
import type { MessageMedia } from './wire-basics.ts';
import type {
  GeoPoint,
  Giveaway,
  GiveawayWinners,
  Invoice,
  Poll,
  PollMedia,
  SharedContact,
  Venue,
} from './wire-cards.ts';

/**
 * The cards of any message, including a message that is quoted or replied to; such messages have
 * fewer fields.
 */
export type CardFields = Partial<
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
export function renderCards(message: CardFields): readonly string[] {
  const { venue, location, contact, poll, dice, giveaway, giveaway_winners: winners } = message;
  // Telegram sends a venue with a location as well.
  const place = venue ? renderVenue(venue) : location && renderLocation(location);
  return [
    place,
    contact && renderContact(contact),
    poll && renderPoll(poll),
    dice && `[${dice.emoji} shows ${dice.value}]`,
    giveaway && renderGiveaway(giveaway),
    winners && renderWinners(winners),
    ...renderSaleItems(message),
    ...renderSharedData(message),
    ...renderSuggestedPost(message),
    renderButtons(message.reply_markup),
    renderPreview(message),
  ].filter((card) => card !== undefined && card !== '') as string[];
}

function renderVenue({ title, address, location }: Venue): string {
  return `[Place: ${[title, address].filter(Boolean).join(', ')} (${renderCoordinates(location)})]`;
}

/** Telegram's value for a location that is shared until its sender stops it. */
const WITHOUT_END = 0x7fffffff;

/** A location, with the details of a live one. */
export function renderLocation(point: GeoPoint): string {
  const { live_period: seconds, heading, proximity_alert_radius: radius } = point;
  const details = [
    seconds === WITHOUT_END && 'live',
    seconds !== undefined && seconds < WITHOUT_END && `live for ${Math.round(seconds / 60)} min`,
    heading !== undefined && `heading ${heading}°`,
    radius !== undefined && `alert within ${radius} m`,
  ].filter((detail) => detail !== false);
  return `[Location: ${[renderCoordinates(point), ...details].join(', ')}]`;
}

function renderCoordinates({ latitude, longitude }: GeoPoint): string {
  return `${latitude}, ${longitude}`;
}

function renderContact({
  phone_number,
  first_name,
  last_name,
  user_id,
  vcard,
}: SharedContact): string {
  const details = [
    formatFullName({ first_name, last_name }),
    phone_number,
    user_id === undefined ? '' : buildPersonLink(user_id),
    ...(vcard === undefined ? [] : listVcardDetails(vcard, [phone_number])),
  ];
  return `[Contact: ${details.filter(Boolean).join(', ')}]`;
}

function formatFullName(person: {
  readonly first_name?: string | undefined;
  readonly last_name?: string | undefined;
}): string {
  return [person.first_name, person.last_name].filter(Boolean).join(' ');
}

function renderPoll(poll: Poll): string {
  const { question, options, type, is_closed, allows_multiple_answers, explanation, description } =
    poll;
  const right = new Set([...poll.correct_option_ids, poll.correct_option_id]);
  const hasVotes = is_closed === true || options.some(({ voter_count = 0 }) => voter_count > 0);
  const shown = options.map(({ text, text_entities: entities, voter_count, media }, index) => {
    const details = [
      right.has(index) && 'right',
      hasVotes && voter_count !== undefined && `votes: ${voter_count}`,
      media && renderPollMedia(media),
    ].filter(Boolean);
    const words = spellOutHiddenTargets({ text, entities });
    return details.length === 0 ? words : `${words} (${details.join(', ')})`;
  });
  const more = [
    allows_multiple_answers === true && 'several answers may be chosen',
    is_closed === true && 'closed',
    description !== undefined &&
      `description: ${spellOutHiddenTargets({ text: description, entities: poll.description_entities })}`,
    poll.media && renderPollMedia(poll.media),
    explanation !== undefined &&
      `explanation: ${spellOutHiddenTargets({ text: explanation, entities: poll.explanation_entities })}`,
    poll.explanation_media && renderPollMedia(poll.explanation_media),
  ].filter(Boolean);
  const kind = type === 'quiz' ? 'Quiz' : 'Poll';
  const end = more.length === 0 ? '' : `; ${more.join('; ')}`;
  return `[${kind}: ${question} ${shown.join(' / ')}${end}]`;
}

/** The media in a poll that are not files; files are listed among the message's attachments. */
function renderPollMedia({ link, location, venue }: PollMedia): string {
  if (link) return link.url;
  if (venue) return renderVenue(venue);
  return location ? renderLocation(location) : '';
}

/** The files in a poll. */
export function listPollMedia({
  media,
  explanation_media,
  options,
}: Poll): readonly MessageMedia[] {
  const all = [media, explanation_media, ...options.map((option) => option.media)];
  return all.filter((one) => one !== undefined);
}

/** The poll option that a message replies to, shown before the poll itself. */
export function renderPollOption({ options }: Poll, id: string): string {
  const option = options.find(({ persistent_id }) => persistent_id === id);
  return option === undefined ? '' : `[Option: ${option.text}]`;
}

function renderGiveaway(giveaway: Giveaway): string {
  const {
    prize_description,
    prize_star_count,
    premium_subscription_month_count: months,
  } = giveaway;
  const date = formatIsoTime(giveaway.winners_selection_date);
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

function renderWinners({ winners, winner_count, prize_description }: GiveawayWinners): string {
  const names = winners.map(formatFullName).filter(Boolean).join(', ');
  const count = winner_count === undefined ? '' : `winners: ${winner_count}`;
  return `[Giveaway is over: ${[prize_description, count, names].filter(Boolean).join('; ')}]`;
}

/**
 * The text of games, invoices and gifts. A separate note states that the content cannot be read.
 */
function renderSaleItems({ game, invoice, gift, unique_gift }: CardFields): readonly string[] {
  const given = [gift, unique_gift].flatMap((one) => {
    return one?.text
      ? [`[Words of a gift: ${spellOutHiddenTargets({ ...one, text: one.text })}]`]
      : [];
  });
  const rules =
    game?.text && spellOutHiddenTargets({ text: game.text, entities: game.text_entities });
  const played = game && [game.title, game.description, rules].filter(Boolean).join(': ');
  return [played ? `[Game: ${played}]` : '', invoice ? renderInvoice(invoice) : '', ...given];
}

function renderInvoice({ title, description, currency, total_amount }: Invoice): string {
  const price =
    total_amount === undefined || currency === undefined
      ? ''
      : `${total_amount} in the smallest unit of ${currency}`;
  const details = [title, description, price].filter(Boolean).join('; ');
  return details === '' ? '' : `[Invoice: ${details}]`;
}

/** The data that a person shared with the bot through a button that requests it. */
function renderSharedData(message: CardFields): readonly string[] {
  const { web_app_data: data, users_shared, user_shared, chat_shared } = message;
  const people = users_shared?.users.map((person) => {
    const { username, user_id } = person;
    const about = [
      username !== undefined && `@${username}`,
      user_id !== undefined && buildPersonLink(user_id),
    ].filter((one) => one !== false);
    const name = formatFullName(person);
    return name === '' ? about.join(', ') : [name, ...about].join(', ');
  });
  const old = user_shared === undefined ? [] : [user_shared.user_id];
  const ids = [...(users_shared?.user_ids ?? []), ...old].map(buildPersonLink);
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
function renderSuggestedPost({
  suggested_post_info: post,
  suggested_post_declined: declined,
}: CardFields) {
  const comment = declined?.comment;
  const date = formatIsoTime(post?.send_date);
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
function renderButtons(markup: CardFields['reply_markup']): string {
  const buttons = (markup?.inline_keyboard.flat() ?? []).map(
    ({ text, url, web_app, copy_text }) => {
      const behind = url ?? web_app?.url ?? copy_text?.text;
      return behind === undefined ? text : `${text} (${behind})`;
    },
  );
  return buttons.length === 0 ? '' : `[Buttons: ${buttons.join(' / ')}]`;
}

/** A message can have a page below it that its text does not mention. */
function renderPreview({
  link_preview_options: preview,
  text = '',
  entities = [],
}: CardFields): string {
  const { url, is_disabled } = preview ?? {};
  if (url === undefined || is_disabled === true) return '';
  if (spellOutHiddenTargets({ text, entities }).includes(shortenUrl(url))) return '';
  return `[Page shown below: ${url}]`;
}
