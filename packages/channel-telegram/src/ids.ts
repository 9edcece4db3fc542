import { type ChannelIds, type IdForm, trimCopiedId } from '@parley/core';

const WHOAMI = 'The bot answers a stranger with their id; /whoami shows it, too';
const LISTED = '"parley channels" lists the groups in which the bot was mentioned, with their ids';

/**
 * A username can be transferred to another person or group, and a bot cannot look up the id behind
 * it.
 */
function explainWrongId(written: string): string | undefined {
  const bare = trimCopiedId(written);
  if (/^\+\d/.test(bare)) return 'Telegram does not show phone numbers to bots';
  if (/(?:t|telegram)\.me\/(?:\+|joinchat)|tg:\/\/join/i.test(bare))
    return 'an invitation link does not tell a bot which group it leads to';
  if (/^@|(?:t|telegram)\.me\/|tg:\/\/resolve|web\.telegram\.org\/.*#@/i.test(bare))
    return 'a @name can be transferred to somebody else, so it does not count';
  return undefined;
}

/**
 * Access ids for all chats with customers of a business account (its owner's id), and for all guest
 * questions (the id of the person who asks).
 */
const OF_PERSON = /^(?:business|guest):[1-9]\d{0,15}$/;

/** Telegram's ids have at most 52 significant bits. */
const USER = /^[1-9]\d{0,15}$/;
const GROUP = /^-[1-9]\d{0,15}$/;

const person: IdForm = {
  expected: 'a numeric user id of Telegram, such as 123456789',
  howToFind: WHOAMI,
  explain: (written) =>
    GROUP.test(trimCopiedId(written)) ? 'this is the id of a group' : explainWrongId(written),
  normalize(written) {
    const bare = trimCopiedId(written);
    const linked = /^tg:\/\/(?:user\?id=|openmessage\?user_id=)(\d+)$/i.exec(bare)?.[1];
    const shown = /^https?:\/\/web\.telegram\.org\/.*#(\d+)$/i.exec(bare)?.[1];
    const id = linked ?? shown ?? bare;
    return USER.test(id) ? id : null;
  },
};

const group: IdForm = {
  expected: 'the numeric id of a group in Telegram, such as -1001234567890',
  howToFind: LISTED,
  explain: explainWrongId,
  normalize(written) {
    const bare = trimCopiedId(written);
    const linked =
      /^(?:(?:https?:\/\/)?(?:t|telegram)\.me\/c\/|tg:\/\/privatepost\?channel=)(\d+)(?:[/&]|$)/i.exec(
        bare,
      )?.[1];
    const shown = /^https?:\/\/web\.telegram\.org\/.*#(-100\d{10,})(?:_\d+)?$/i.exec(bare)?.[1];
    const id = linked === undefined ? (shown ?? bare) : `-100${linked}`;
    return GROUP.test(id) || OF_PERSON.test(id) ? id : null;
  },
  // Suggests a correction for an id copied without its minus sign (people have shorter ids), with a
  // topic appended, or from a browser, which leaves out the 100.
  suggest(written) {
    const bare = trimCopiedId(written);
    const beforeTopic = /^(-\d+)[_:/]\d+$/.exec(bare)?.[1];
    if (beforeTopic !== undefined) return beforeTopic;
    const inBrowser = /web\.telegram\.org\/.*#-(\d{10,})(?:_\d+)?$/i.exec(bare)?.[1];
    if (inBrowser !== undefined) return `-100${inBrowser}`;
    return /^100\d{10,13}$/.test(bare) ? `-${bare}` : undefined;
  },
};

/** The thread in which a subscriber writes to a channel, as displayed for that conversation. */
const SUBSCRIBER = /^direct:[1-9]\d{0,15}$/;

const thread: IdForm = {
  expected: 'the number of a topic, such as 7',
  howToFind: 'It is the last number of a link to the topic (t.me/c/1234567890/7)',
  normalize(written) {
    const bare = trimCopiedId(written);
    if (SUBSCRIBER.test(bare)) return bare;
    const id = /^(?:https?:\/\/)?t\.me\/c\/\d+\/(\d+)/i.exec(bare)?.[1] ?? bare;
    return /^#?([1-9]\d{0,15})$/.exec(id)?.[1] ?? null;
  },
};

/**
 * The formats of Telegram's ids. A direct chat has the same id as the person; there are no roles.
 */
export const TELEGRAM_IDS: ChannelIds = { person, group, direct: person, role: null, thread };
