import { z } from 'zod';
import type { ChannelDefinition } from '../adapter.ts';
import { TERMINAL, WEB, type WebFront } from './front.ts';
import { WEB_IDS } from './ids.ts';

export type {
  WebChat,
  WebEvent,
  WebFile,
  WebHistory,
  WebHistoryEntry,
  WebReceipt,
} from './events.ts';

/** Chat in the browser. */
export const web = definition(WEB);

/** Chat in the terminal. */
export const terminal = definition(TERMINAL);

function definition(front: WebFront): ChannelDefinition {
  return {
    id: front.channel,
    settings: z.strictObject({}),
    ids: WEB_IDS,
    servedByAll: true,
    async load() {
      const { createWebAdapter } = await import('./adapter.ts');
      return (context) => createWebAdapter(context, front);
    },
  };
}
