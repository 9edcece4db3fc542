import {
  type ChannelIds,
  explainPhoneNumber,
  findPhoneNumber,
  type IdForm,
  trimCopiedId,
} from '@parley/core';

const IDENTITY = /^\d+(?:_\d+)?(?::\d+)?@(?:hosted\.)?lid$/;

/** An id like `123@lid`, for a person whose number the account does not know. */
function parseIdentity(written: string): string | undefined {
  const bare = trimCopiedId(written).toLowerCase();
  return IDENTITY.test(bare) ? `${/^\d+/.exec(bare)?.[0]}@lid` : undefined;
}

function explainWrongId(written: string): string | undefined {
  const bare = trimCopiedId(written);
  if (/@g\.us$|^120363\d+$/i.test(bare)) return 'this is the id of a group';
  if (/^-\d/.test(bare)) return 'this is the id of a Telegram group';
  if (/@newsletter$/i.test(bare)) return 'this is the id of a channel';
  if (/@broadcast$/i.test(bare)) return 'this is a broadcast list';
  return explainPhoneNumber(bare) ?? (/\p{L}/u.test(bare) ? 'names are not accepted' : undefined);
}

const EXPECTED = 'a phone number with its country code, such as 491511234567';
const HOW =
  "Each contact's profile shows the number; if a stranger writes, the owner is told the stranger's id";

const person: IdForm = {
  expected: EXPECTED,
  howToFind: HOW,
  explain: explainWrongId,
  normalize: (written) => findPhoneNumber(written) ?? parseIdentity(written) ?? null,
  suggest(written) {
    const digits = trimCopiedId(written).replaceAll(/[().-]/g, '');
    return /^89\d{9}$/.test(digits) ? `7${digits.slice(1)}` : undefined;
  },
};

/** The id of a direct chat is the person's full JID. */
const direct: IdForm = {
  ...person,
  normalize(written) {
    const number = findPhoneNumber(written);
    return number === undefined ? (parseIdentity(written) ?? null) : `${number}@s.whatsapp.net`;
  },
};

const group: IdForm = {
  expected: 'the id of a WhatsApp group, such as 120363012345678901@g.us',
  howToFind: '"parley channels" lists the groups in which the bot was mentioned, with their ids',
  explain: (written) =>
    /@newsletter/i.test(written)
      ? 'this is the id of a channel'
      : /chat\.whatsapp\.com/i.test(written)
        ? 'an invitation is not an id'
        : 'a name is not accepted',
  normalize(written) {
    const bare = trimCopiedId(written).toLowerCase();
    const [, id, domain] = /^(\d+(?:-\d+)?)(@g\.us)?$/.exec(bare) ?? [];
    // Without its domain, an id is accepted only if it cannot be a person's number.
    const isGroup = domain !== undefined || /^(?:\d+-\d{10}|120363\d{12,})$/.test(id ?? '');
    return id !== undefined && isGroup ? `${id}@g.us` : null;
  },
};

/** The formats of WhatsApp's ids. WhatsApp has no roles and no threads. */
export const WHATSAPP_IDS: ChannelIds = { person, group, direct, role: null, thread: null };
