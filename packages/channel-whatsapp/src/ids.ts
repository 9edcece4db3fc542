import { bareId, type ChannelIds, type IdForm } from '@parley/core';

const NUMBER = /^[1-9]\d{6,14}$/;
const IDENTITY = /^\d+(?:_\d+)?(?::\d+)?@(?:hosted\.)?lid$/;

/** A number with its country code as digits; undefined: this is none. */
function numberIn(written: string): string | undefined {
  const bare = bareId(written).replace(/^tel:/i, '');
  const linked =
    /^(?:https?:\/\/)?(?:wa\.me\/|api\.whatsapp\.com\/send\/?\?phone=)([+%\dB]+)/i.exec(bare);
  const named = /^(\d+)(?:_\d+)?(?::\d+)?@(?:s\.whatsapp\.net|c\.us|hosted)$/i.exec(bare);
  const text = linked?.[1]?.replace(/^%2B/i, '+') ?? named?.[1] ?? bare;
  const digits = text
    .replace(/\(0\)/, '')
    .replaceAll(/[()./-]/g, '')
    .replace(/^\+/, '')
    .replace(/^00/, '');
  return NUMBER.test(digits) ? digits : undefined;
}

/** `123@lid`: a person whose number the account does not know. */
function identityIn(written: string): string | undefined {
  const bare = bareId(written).toLowerCase();
  return IDENTITY.test(bare) ? `${/^\d+/.exec(bare)?.[0]}@lid` : undefined;
}

function explain(written: string): string | undefined {
  const bare = bareId(written);
  if (/@g\.us$|^120363\d+$/i.test(bare)) return 'this is the id of a group';
  if (/^\(?0[1-9]/.test(bare)) return 'the country code is missing';
  return /\p{L}/u.test(bare) ? 'names do not count' : undefined;
}

const EXPECTED = 'a phone number with its country code, such as 491511234567';
const HOW =
  'Each number is shown in the profile of its contact; the owner is told the id of a stranger who writes';

const person: IdForm = {
  expected: EXPECTED,
  howToFind: HOW,
  explain,
  normalize: (written) => numberIn(written) ?? identityIn(written) ?? null,
};

/** A direct chat has the whole address of its person. */
const direct: IdForm = {
  ...person,
  normalize(written) {
    const number = numberIn(written);
    return number === undefined ? (identityIn(written) ?? null) : `${number}@s.whatsapp.net`;
  },
};

const group: IdForm = {
  expected: 'the id of a group in WhatsApp, such as 120363012345678901@g.us',
  howToFind: '"parley channels" lists the groups in which the bot was mentioned, with their ids',
  explain: (written) =>
    /chat\.whatsapp\.com/i.test(written) ? 'an invitation is no id' : 'a name does not count',
  normalize(written) {
    const bare = bareId(written).toLowerCase();
    const [, id, domain] = /^(\d+(?:-\d+)?)(@g\.us)?$/.exec(bare) ?? [];
    // Without the domain only what cannot be the number of a person.
    const isGroup = domain !== undefined || /^(?:\d+-\d{10}|120363\d{12,})$/.test(id ?? '');
    return id !== undefined && isGroup ? `${id}@g.us` : null;
  },
};

/** The ids of WhatsApp, which has no roles and no threads. */
export const WHATSAPP_IDS: ChannelIds = { person, group, direct, role: null, thread: null };
