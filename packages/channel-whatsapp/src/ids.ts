import { type ChannelIds, type IdForm, trimCopiedId } from '@parley/core';

const NUMBER = /^[1-9]\d{6,14}$/;
/**
 * Numbers that cannot exist. With the country codes 1 and 7 they have eleven digits, and no country
 * has the code 89, where the 8 is what people in Russia dial first.
 */
const NO_NUMBER = /^(?:[17](?!\d{10}$)|89\d{9}$)/;
/**
 * Countries whose numbers begin with a 0 only when dialed domestically; in Italy and others the 0
 * is part of the number.
 */
const HOME_ZERO = new RegExp(
  `^(${[
    '20|27|31|32|33|40|41|43|44|46|49|60|61|62|63|64|66|81|82|84|86|90|91|92|93|94|95|98',
    '212|213|234|254|255|256|353|355|358|359|380|381|385|386|387|389|421|880',
    '961|962|963|964|966|967|970|971|972|977',
  ].join('|')})0(?=[1-9])`,
);
const IDENTITY = /^\d+(?:_\d+)?(?::\d+)?@(?:hosted\.)?lid$/;

/** The digits of a number with its country code; undefined when it is not a number. */
function findPhoneNumber(written: string): string | undefined {
  const bare = trimCopiedId(written).replace(/^(?:tel:|@)/i, '');
  const linked =
    /^(?:(?:https?:\/\/)?(?:wa\.me\/|(?:api|web)\.whatsapp\.com\/send\/?\?phone=)|(?:whatsapp:)?\/\/send\/?\?phone=)([+%\dB]+)/i.exec(
      bare,
    );
  const named = /^\+?(\d+)(?:_\d+)?(?::\d+)?@(?:s\.whatsapp\.net|c\.us|hosted)$/i.exec(bare);
  const text = linked?.[1]?.replace(/^%2B/i, '+') ?? named?.[1] ?? bare;
  const digits = text
    .replace(/\(0\)/, '')
    .replaceAll(/[()[\]./·•_-]/g, '')
    .replace(/^\+/, '')
    .replace(/^00/, '')
    .replace(HOME_ZERO, '$1');
  if (text.startsWith('-')) return undefined;
  return NUMBER.test(digits) && !NO_NUMBER.test(digits) ? digits : undefined;
}

/** An id like `123@lid`, for a person whose number the account does not know. */
function identityIn(written: string): string | undefined {
  const bare = trimCopiedId(written).toLowerCase();
  return IDENTITY.test(bare) ? `${/^\d+/.exec(bare)?.[0]}@lid` : undefined;
}

function explainWrongId(written: string): string | undefined {
  const bare = trimCopiedId(written);
  if (/@g\.us$|^120363\d+$/i.test(bare)) return 'this is the id of a group';
  if (/^-\d/.test(bare)) return 'this is the id of a group in Telegram';
  if (/@newsletter$/i.test(bare)) return 'this is the id of a channel';
  if (/@broadcast$/i.test(bare)) return 'this is a broadcast list';
  if (/^\(?0[1-9]/.test(bare)) return 'the country code is missing';
  const digits = bare.replaceAll(/\D/g, '');
  if (NO_NUMBER.test(digits) && !/\p{L}/u.test(bare)) {
    return digits.startsWith('8')
      ? 'the 8 is only dialed inside the country, and stands for the country code 7'
      : 'the country code or a digit is missing: with 1 or 7 there are eleven';
  }
  return /\p{L}/u.test(bare) ? 'names do not count' : undefined;
}

const EXPECTED = 'a phone number with its country code, such as 491511234567';
const HOW =
  'Each number is shown in the profile of its contact; the owner is told the id of a stranger who writes';

const person: IdForm = {
  expected: EXPECTED,
  howToFind: HOW,
  explain: explainWrongId,
  normalize: (written) => findPhoneNumber(written) ?? identityIn(written) ?? null,
  suggest(written) {
    const digits = trimCopiedId(written).replaceAll(/[().-]/g, '');
    return /^89\d{9}$/.test(digits) ? `7${digits.slice(1)}` : undefined;
  },
};

/** A direct chat has the full JID of its person. */
const direct: IdForm = {
  ...person,
  normalize(written) {
    const number = findPhoneNumber(written);
    return number === undefined ? (identityIn(written) ?? null) : `${number}@s.whatsapp.net`;
  },
};

const group: IdForm = {
  expected: 'the id of a group in WhatsApp, such as 120363012345678901@g.us',
  howToFind: '"parley channels" lists the groups in which the bot was mentioned, with their ids',
  explain: (written) =>
    /@newsletter/i.test(written)
      ? 'this is the id of a channel'
      : /chat\.whatsapp\.com/i.test(written)
        ? 'an invitation is not an id'
        : 'a name does not count',
  normalize(written) {
    const bare = trimCopiedId(written).toLowerCase();
    const [, id, domain] = /^(\d+(?:-\d+)?)(@g\.us)?$/.exec(bare) ?? [];
    // Without the domain, an id is accepted only if it cannot be a person's number.
    const isGroup = domain !== undefined || /^(?:\d+-\d{10}|120363\d{12,})$/.test(id ?? '');
    return id !== undefined && isGroup ? `${id}@g.us` : null;
  },
};

/** The forms of WhatsApp's ids. WhatsApp has no roles and no threads. */
export const WHATSAPP_IDS: ChannelIds = { person, group, direct, role: null, thread: null };
