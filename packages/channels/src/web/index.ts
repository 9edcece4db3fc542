import { type ChannelIds, trimCopiedId } from '@parley/core';
import { z } from 'zod';
import type { ChannelDefinition } from '../adapter.ts';
import { CHAT_ID, ChatId, OWNER_ID, TERMINAL, WEB, type WebFrontEnd } from './front.ts';

export type {
  WebChat,
  WebEvent,
  WebFile,
  WebHistory,
  WebHistoryEntry,
  WebReceipt,
} from './events.ts';
export { createPageChat, type PageChat } from './front.ts';

const WHO_WRITES = 'Anyone with the gateway token writes there as the owner';

/** On the page and the terminal, the person is always the owner, and there are no groups. */
const WEB_IDS: ChannelIds = {
  person: {
    expected: `the owner, the only person in these chats: ${OWNER_ID}`,
    howToFind: WHO_WRITES,
    normalize: (written) => (trimCopiedId(written).toLowerCase() === OWNER_ID ? OWNER_ID : null),
  },
  group: null,
  direct: {
    expected: `a chat such as ${CHAT_ID}`,
    howToFind: 'The address of the page contains the id of the open chat',
    normalize: (written) => ChatId.safeParse(trimCopiedId(written)).data ?? null,
  },
  role: null,
  thread: null,
};

/** Chat in the browser. */
export const web = defineFrontEnd(WEB);

/** Chat in the terminal. */
export const terminal = defineFrontEnd(TERMINAL);

function defineFrontEnd(front: WebFrontEnd): ChannelDefinition {
  return {
    id: front.channel,
    settings: z.strictObject({}).describe(front.about).meta({ title: front.title }),
    ids: WEB_IDS,
    servedByAll: true,
    async load() {
      const { createWebAdapter } = await import('./adapter.ts');
      return (context) => createWebAdapter(context, front);
    },
  };
}
