import { bareId, type ChannelIds } from '@parley/core';
import { CHAT_ID, ChatId, OWNER_ID } from './front.ts';

const WHO_WRITES = 'Who has the token of the gateway writes there, as the owner';

/** The ids of the page and the terminal: the person is always the owner; there are no groups. */
export const WEB_IDS: ChannelIds = {
  person: {
    expected: `the one person there is: ${OWNER_ID}`,
    howToFind: WHO_WRITES,
    normalize: (written) => (bareId(written).toLowerCase() === OWNER_ID ? OWNER_ID : null),
  },
  group: null,
  direct: {
    expected: `a chat such as ${CHAT_ID}`,
    howToFind: 'The address of the page names the chat that is open',
    normalize: (written) => ChatId.safeParse(bareId(written)).data ?? null,
  },
  role: null,
  thread: null,
};
