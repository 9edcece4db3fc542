import { type ChannelIds, type IdForm, trimCopiedId } from '@parley/core';

const COPY =
  'Switch on Developer Mode in Discord (Settings, Advanced), right-click, and choose "Copy ID"';

/** The format of Discord's ids. The oldest ids have 15 digits; the format allows up to 20. */
const SNOWFLAKE = /^\d{15,20}$/;

function explainWrongId(written: string): string | undefined {
  const bare = trimCopiedId(written);
  if (/^@?&\d/.test(bare)) return 'this is the id of a role';
  if (/^#\d/.test(bare)) return 'this is the id of a channel';
  if (/^@!?\d/.test(bare)) return 'this is the id of a person';
  if (/discord(?:app)?\.com\/channels\/\d+\/?$/i.test(bare))
    return 'this is a server, which has many channels';
  if (/discord(?:app)?\.(?:gg|com\/invite)/i.test(bare)) return 'an invitation is not an id';
  if (/^\d+$/.test(bare))
    return `Discord ids have at least 15 digits, but this one has ${bare.length}`;
  return /\p{L}/u.test(bare) ? 'names can change, so they are not accepted' : undefined;
}

/**
 * Creates the format of one kind of id. `kind` matches the characters before the digits in an id
 * that was copied as a mention; `link` matches the URL form, with the id as a group.
 */
function createIdForm(expected: string, kind: RegExp, link: RegExp): IdForm {
  return {
    expected,
    howToFind: COPY,
    explain: explainWrongId,
    normalize(written) {
      const bare = trimCopiedId(written);
      const id = kind.exec(bare)?.[1] ?? link.exec(bare)?.[1] ?? bare;
      return SNOWFLAKE.test(id) ? id : null;
    },
  };
}

const SITE = '^(?:https?://)?(?:(?:ptb|canary)\\.)?discord(?:app)?\\.com';
const channelLink = new RegExp(`${SITE}/channels/(?:\\d+|@me)/(\\d+)(?:/|$)`, 'i');

const group = createIdForm(
  'the id of a Discord channel, such as 123456789012345678',
  /^<?#(\d+)>?$/,
  channelLink,
);

/**
 * The formats of Discord's ids. Access to a server is granted channel by channel; threads belong to
 * their channel.
 */
export const DISCORD_IDS: ChannelIds = {
  person: createIdForm(
    'a Discord user id, such as 123456789012345678',
    /^<?@!?(\d+)>?$/,
    new RegExp(`(?:${SITE}|^discord://-)/users/(\\d+)`, 'i'),
  ),
  group,
  direct: group,
  role: createIdForm(
    'the id of a Discord role, such as 123456789012345678',
    /^<?@&(\d+)>?$/,
    /^(?!)/,
  ),
  thread: group,
};
